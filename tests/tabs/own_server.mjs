// Servers of a test's own: tabs-api with flags of its choice, and web sites for it or for a browser to visit.

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A service on a free port, in memory. Gives its address, and `stop()`. */
export async function startService(seed, flags) {
  const folder = mkdtempSync(join(tmpdir(), 'tabs-'));
  const [seedFile, ready] = [join(folder, 'seed.json'), join(folder, 'ready.json')];
  const { writeFileSync } = await import('node:fs');
  writeFileSync(seedFile, JSON.stringify(seed));
  const fixed = ['--port', '0', '--memory', '--seed', seedFile, '--ready-file', ready, '--log', join(folder, 'log')];
  const child = spawn(process.env.TRIPTYCH_TABS_BINARY, [...fixed, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const isReady = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => line.includes('is ready') && resolve());
    child.on('exit', (code) => reject(new Error(`tabs-api ended with ${code}`)));
  });
  await isReady;
  return {
    url: JSON.parse(readFileSync(ready, 'utf8')).url.replace(/\/$/, ''),
    stop: async () => {
      const ended = new Promise((resolve) => child.on('exit', resolve));
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** A web site on a free port; `answer(request, response)` serves it. */
export async function startSite(answer) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
