// A page of the extension, for calls that come from a tab.

import { call } from './call.mjs';

chrome.runtime.onMessage.addListener((message, _sender, reply) => {
  if (!message?.step) return undefined;
  call(message.step).then(reply);
  return true;
});
