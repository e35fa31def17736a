// The manifests that scenarios are recorded with, by the name of their variant.

import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));

const EVERYTHING = {
  permissions: ['tabs', 'tabGroups', 'scripting', 'activeTab', 'storage', 'sessions'],
  host_permissions: ['<all_urls>'],
};

/** What each variant may do. */
const VARIANTS = {
  full: EVERYTHING,
  nofiles: EVERYTHING,
  spanning: { ...EVERYTHING, incognito: 'spanning' },
  split: { ...EVERYTHING, incognito: 'split' },
  none: {},
  tabsonly: { permissions: ['tabs'] },
  hosta: { host_permissions: ['http://a.test/*'] },
  allhosts: { host_permissions: ['<all_urls>'] },
  activetab: { permissions: ['activeTab'] },
  invoked: {
    permissions: ['activeTab', 'scripting'],
    action: {},
    // The user invokes it by this key.
    commands: { _execute_action: { suggested_key: { default: 'Ctrl+Shift+Y' } } },
  },
};

/** Writes the extension of a variant to a folder. */
export function writeExtension(variant, folder) {
  const rights = VARIANTS[variant];
  if (!rights) throw new Error(`no manifest variant ${variant}: there are ${Object.keys(VARIANTS).join(', ')}`);
  mkdirSync(folder, { recursive: true });
  cpSync(join(HERE, 'extension'), folder, { recursive: true });
  const manifest = {
    manifest_version: 3,
    name: `recorder ${variant}`,
    version: '1.0',
    background: { service_worker: 'worker.mjs', type: 'module' },
    content_scripts: [{ matches: ['http://cs.test/*'], js: ['content.js'], all_frames: true, run_at: 'document_start' }],
    ...rights,
  };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest, null, 2));
}

/** What the user sets for the variant on the page of extensions, if that is not what an extension begins with. */
export function settings(variant) {
  if ('incognito' in VARIANTS[variant]) return { incognitoAccess: true };
  return variant === 'nofiles' ? { fileAccess: false } : undefined;
}

/** The folder of the harness. */
export const HARNESS = join(HERE, 'harness');
