// Questions to the user: what deletes something asks first and names it.

import { button, element } from './dom.js';

let last = 0;

function open(title, children, actions) {
  return new Promise((resolve) => {
    const id = `dialog-${++last}`;
    const dialog = element('dialog', { 'aria-labelledby': id });
    const end = (value) => {
      dialog.close();
      dialog.remove();
      resolve(value);
    };
    const form = element('form', { onsubmit: (event) => { event.preventDefault(); end(actions.submit()); } },
      element('h2', { id }, title),
      children,
      element('p', { class: 'actions' },
        button('Cancel', () => end(undefined)),
        element('button', { type: 'submit', class: actions.danger ? 'danger' : 'primary' }, actions.label)));
    dialog.addEventListener('cancel', (event) => { event.preventDefault(); end(undefined); });
    dialog.append(form);
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Asks whether to do what cannot be taken back. */
export async function confirmed(title, sentence, label) {
  return await open(title, element('p', {}, sentence), { label, danger: true, submit: () => true }) === true;
}

/** Asks for a secret text; nothing, where there is none. */
export function askFor(title, sentence) {
  const input = element('input', { type: 'password', autocomplete: 'off', required: true });
  const children = [element('p', {}, sentence), element('label', { class: 'field' }, element('span', {}, title), input)];
  return open(title, children, { label: 'Use it', submit: () => input.value });
}
