// The first view: whether the service is there, what is in it, and how to talk to it.

import { button, copyButton, element, facts, nothing, show } from './dom.js';
import { part } from './pages.js';

const HIDDEN = '••••••••';

/** A secret behind a click. It is asked for by then, and stands in the page only while it is shown. */
function secret(label, text) {
  const value = element('code', {}, HIDDEN);
  const shown = button('Show', () => {
    const isHidden = value.textContent === HIDDEN;
    value.textContent = isHidden ? text : HIDDEN;
    shown.textContent = isHidden ? 'Hide' : 'Show';
    shown.setAttribute('aria-pressed', String(isHidden));
  }, { 'aria-pressed': 'false', 'aria-label': `Show ${label}` });
  return element('li', {}, element('span', {}, label), value, shown, copyButton(text));
}

function recipe({ title, text, secrets = {} }) {
  const hidden = Object.keys(secrets).reduce((all, name) => all.replaceAll(`{${name}}`, HIDDEN), text);
  const whole = () => Object.entries(secrets).reduce((all, [name, value]) => all.replaceAll(`{${name}}`, value), text);
  const code = element('pre', { tabindex: 0, role: 'region', 'aria-label': title }, element('code', {}, hidden));
  return element('div', { class: 'recipe' }, element('h3', {}, title), code, copyButton(whole));
}

/** The view of a service that says `credentials()`, `recipes(credentials)`, `counts()` and `firstSteps`. */
export function start(service) {
  return {
    name: 'start',
    title: 'Start',
    async show({ area, signal }) {
      const credentials = service.credentials({ signal });
      // A refusal is shown by the parts that need them.
      credentials.catch(() => {});
      const parts = [
        part('In the store', async () => {
          const counts = await service.counts({ signal });
          const isEmpty = counts.every(([, number]) => Number(number) === 0);
          return [facts(counts.map(([name, number]) => [name, Number(number).toLocaleString('en')])), isEmpty && nothing(service.firstSteps)];
        }),
        part('Address', async () => facts([['Address', element('code', {}, location.origin)], ...(service.addresses?.() ?? [])])),
        part('Credentials', async () => {
          const list = await credentials;
          if (list.length === 0) return nothing(service.withoutCredentials);
          return element('ul', { class: 'credentials' }, list.map(({ label, text }) => secret(label, text)));
        }),
        part('Recipes', async () => service.recipes(await credentials).map(recipe)),
      ];
      show(area, parts.map((each) => each.area));
      await Promise.all(parts.map((each) => each.loaded));
    },
  };
}
