// The content script that answers messages in all frames of `cs.test`; what it answers stands in fixtures.json.

const isTop = window.top === window;

const ANSWERS = {
  echo: (message, sender, reply) => reply({ echo: message, top: isTop, path: location.pathname, senderHasTab: Boolean(sender.tab) }),
  async: (_message, _sender, reply) => {
    setTimeout(() => reply({ late: true, top: isTop }), 150);
    return true;
  },
  none: () => {},
  undefined: (_message, _sender, reply) => reply(),
  null: (_message, _sender, reply) => reply(null),
  never: () => true,
  throw: () => {
    throw new Error('boom');
  },
  promise: () => Promise.resolve({ promised: true }),
  toponly: (_message, _sender, reply) => {
    if (isTop) reply({ top: true });
  },
};

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  const command = message?.cmd;
  const answer = typeof command === 'string' && ANSWERS[command];
  if (answer) return answer(message, sender, reply);
  reply({ got: message, type: typeof message, top: isTop });
  return undefined;
});

chrome.runtime.onConnect.addListener((port) => {
  port.postMessage({ hello: port.name, top: isTop });
  port.onMessage.addListener((message) => {
    if (message?.cmd === 'disconnect') port.disconnect();
    else port.postMessage({ echo: message, top: isTop });
  });
});
