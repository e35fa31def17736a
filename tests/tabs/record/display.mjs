// A display of its own for the browser: Xvfb on a number that is free, with a window manager, as on a desktop.

import { execFile, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** How long the window manager may take to say that it is there. */
const PATIENCE_MS = 10_000;

function start(program, args, options) {
  const child = spawn(program, args, options);
  const failed = new Promise((_, reject) => {
    child.on('error', (error) => reject(new Error(`${program} could not be started: ${error.message}`)));
    child.on('exit', (code) => reject(new Error(`${program} ended with ${code}`)));
  });
  failed.catch(() => {});
  return { child, failed };
}

/** How often a display is started: now and then the window manager ends at once. */
const STARTS_MAX = 3;

/** Starts a display. Gives its name, `act(line)` for pointer and keys, and `stop()`. */
export async function startDisplay() {
  for (let left = STARTS_MAX - 1; ; left -= 1) {
    try {
      return await startOnce();
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

async function startOnce() {
  const flags = ['-displayfd', '3', '-screen', '0', '1400x1000x24', '-nolisten', 'tcp'];
  const xvfb = start('Xvfb', flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const number = new Promise((resolve) => xvfb.child.stdio[3].once('data', (text) => resolve(String(text).trim())));
  const name = `:${await Promise.race([number, xvfb.failed])}`;
  const env = { ...process.env, DISPLAY: name };
  const manager = start('openbox', [], { stdio: 'ignore', env });
  const stop = () => {
    manager.child.kill();
    xvfb.child.kill();
  };
  try {
    await Promise.race([isManaged(env), manager.failed]);
  } catch (error) {
    stop();
    throw error;
  }
  return {
    name,
    /** Moves, presses and types as `xdotool` does. */
    act: async (line) => (await run('xdotool', line.map(String), { env })).stdout,
    stop,
  };
}

/** Waits until a window manager answers; before it does, windows have no focus to ask for. */
async function isManaged(env) {
  const begun = Date.now();
  while (Date.now() - begun < PATIENCE_MS) {
    const desktops = await run('xdotool', ['get_num_desktops'], { env }).catch(() => undefined);
    if (desktops) return;
    await sleep(50);
  }
  throw new Error('openbox did not take the display');
}
