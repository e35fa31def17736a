// The client's type declarations compile, accept what is right and refuse what is wrong.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('the declarations accept right calls and refuse wrong ones', () => {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const source = fileURLToPath(new URL('types.ts', import.meta.url));
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck', 'false'];
  try {
    execFileSync(process.execPath, [tsc, ...options, source], { encoding: 'utf8' });
  } catch (error) {
    assert.fail(error.stdout);
  }
});
