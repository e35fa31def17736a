// The extension under recording: it makes the calls of scenarios and writes down every event that it hears.

import { call, failed, plain, revive } from './call.mjs';

const EVENTS = {
  tabs: [
    'onActivated', 'onAttached', 'onCreated', 'onDetached', 'onHighlighted', 'onMoved', 'onRemoved', 'onReplaced',
    'onUpdated', 'onZoomChange',
  ],
  windows: ['onCreated', 'onRemoved', 'onFocusChanged'],
  tabGroups: ['onCreated', 'onMoved', 'onRemoved', 'onUpdated'],
};

let log = [];
let lastEvent = 0;
let ports = {};

const hear = (name) => (...args) => {
  lastEvent = Date.now();
  log.push({ name, args: plain(args) });
};

for (const [namespace, names] of Object.entries(EVENTS)) {
  for (const name of names) chrome[namespace]?.[name].addListener(hear(`${namespace}.${name}`));
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Opens a port that later steps know by its name. */
function connect(port, args) {
  try {
    const opened = chrome.tabs.connect(...revive(args));
    ports[port] = opened;
    opened.onMessage.addListener((message) => hear('port.onMessage')(port, message));
    opened.onDisconnect.addListener(() => hear('port.onDisconnect')(port, chrome.runtime.lastError?.message ?? null));
    return { result: { name: opened.name, sender: plain(opened.sender) ?? null } };
  } catch (error) {
    return failed('throw', error);
  }
}

function usePort([port, method, ...values]) {
  try {
    ports[port][method](...revive(values));
    return { result: null };
  } catch (error) {
    return failed('throw', error);
  }
}

function make(step) {
  if (step.op === 'harness.port') return usePort(step.args);
  if (step.op === 'harness.parallel') return Promise.all(step.args[0].map(call)).then((result) => ({ result }));
  if (step.op === 'tabs.connect' && step.port) return connect(step.port, step.args ?? []);
  if (step.context === 'page') return chrome.runtime.sendMessage({ step });
  return call(step);
}

/** What the recorder asks of the worker, by DevTools. */
globalThis.recorder = {
  /** Begins a scenario with an empty log. */
  begin() {
    for (const port of Object.values(ports)) port.disconnect();
    log = [];
    ports = {};
  },

  /** Makes a call; `mark` is how many events came before its outcome. */
  async call(step) {
    const before = log.length;
    const outcome = await make(step);
    return { ...outcome, mark: log.length - before };
  },

  /** How many events there are. */
  count: () => log.length,

  /** The events after the first `after`, once `quiet` ms passed without any and, if asked for, no page loads. */
  async events(after, settle, quiet, patience) {
    const begun = Date.now();
    while (settle !== 'none' && Date.now() - begun < patience) {
      await sleep(20);
      if (Date.now() - Math.max(lastEvent, begun) < quiet) continue;
      if (settle === 'quiet') break;
      const tabs = await chrome.tabs.query({});
      if (!tabs.some((tab) => tab.status === 'loading')) break;
    }
    return log.slice(after);
  },
};
