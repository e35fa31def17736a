// What the projects have left of today's quota.

import { ask } from './client.js';
import { count, element, nothing, show, table } from './dom.js';

const COLUMNS = [
  { title: 'Project', cell: ({ project }) => project },
  { title: 'Model', cell: ({ model }) => model === 'off' ? 'off: nothing is counted' : model },
  { title: 'Used', number: true, cell: ({ used }) => count(used) },
  { title: 'Left', number: true, cell: ({ remaining }) => count(remaining) },
  { title: 'Of', number: true, cell: ({ limit }) => count(limit) },
  { title: 'Share', cell: ({ project, used, limit }) => element('meter', { min: 0, max: limit, value: used, 'aria-label': `Used by ${project}` }) },
  {
    title: 'Buckets of their own',
    cell: ({ buckets }) => Object.entries(buckets).map(([name, { used, limit }]) => element('div', {}, `${name}: ${count(used)} of ${count(limit)}`)),
  },
];

/** The view of quota. */
export const quota = {
  name: 'quota',
  title: 'Quota',
  async show({ area, signal }) {
    const { projects } = await ask('/_ops/quota', { signal });
    show(area, projects.length === 0 ? nothing('There are no projects.') : table('Quota of today (Pacific Time)', COLUMNS, projects).area);
  },
};
