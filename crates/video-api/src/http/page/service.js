// What the frame shows of video-api: who is acted as, how to talk to it, and its views.

import { address, ask } from './client.js';
import { element, field } from './dom.js';
import { actAs, api, keys } from './api.js';
import { channels } from './channels.js';
import { comments } from './comments.js';
import { playlists } from './playlists.js';
import { quota } from './quota.js';
import { videos } from './videos.js';

/** The reason and the sentence of an error of the interface. */
function error(status, text) {
  try {
    const told = JSON.parse(text).error;
    return { code: told.errors?.[0]?.reason ?? String(status), message: told.message };
  } catch {
    return { code: String(status), message: text.slice(0, 500) };
  }
}

async function credentials({ signal }) {
  const { apiKeys, tokens, oauthClients } = await ask('/_ops/credentials', { signal });
  return [
    ...apiKeys.map(({ project, key }) => ({ label: `API key of ${project}`, text: key, kind: 'key' })),
    ...tokens.map(({ account, token }) => ({ label: `Token of ${account}`, text: token, kind: 'token' })),
    ...oauthClients.map(({ id, secret }) => ({ label: `Secret of the OAuth client ${id}`, text: secret, kind: 'client' })),
  ];
}

function recipes(known) {
  const first = (kind) => known.find((each) => each.kind === kind)?.text ?? '';
  const secrets = { key: first('key'), token: first('token') };
  const here = location.origin;
  return [
    { title: 'curl', secrets, text: `curl '${here}/youtube/v3/videos?part=snippet,statistics&chart=mostPopular' -H 'x-goog-api-key: {key}'` },
    { title: 'curl, upload', secrets, text: `curl '${here}/upload/youtube/v3/videos?part=snippet&uploadType=media' -H 'Authorization: Bearer {token}' -H 'Content-Type: video/mp4' --data-binary @film.mp4` },
    {
      title: 'Python (google-api-python-client)', secrets,
      text: `from googleapiclient.discovery import build\nfrom google.oauth2.credentials import Credentials\n\nyoutube = build('youtube', 'v3', credentials=Credentials('{token}'),\n    discoveryServiceUrl='${here}/$discovery/rest?version=v3', static_discovery=False,\n    client_options={'api_endpoint': '${here}'})\nprint(youtube.channels().list(part='snippet', mine=True).execute())`,
    },
    {
      title: 'Node (@googleapis/youtube)', secrets,
      text: `import { youtube } from '@googleapis/youtube';\n\nconst client = youtube({ version: 'v3', auth: '{key}', rootUrl: '${here}/' });\nconsole.log((await client.videos.list({ part: ['snippet'], chart: 'mostPopular' })).data);`,
    },
    {
      title: 'Go (google.golang.org/api)', secrets,
      text: `service, err := youtube.NewService(ctx, option.WithEndpoint("${here}/"), option.WithAPIKey("{key}"))`,
    },
  ];
}

async function counts({ signal }) {
  const total = async (type) => {
    const { pageInfo } = await api('search', { part: 'id', type, maxResults: 0 }, { signal });
    return pageInfo.totalResults;
  };
  const [videosFound, channelsFound, playlistsFound, { accounts }] =
    await Promise.all([total('video'), total('channel'), total('playlist'), ask('/_ops/accounts', { signal })]);
  return [['Public videos', videosFound], ['Channels', channelsFound], ['Public playlists', playlistsFound],
    [accounts.length < 100 ? 'Accounts' : 'Accounts, counted to 100', accounts.length]];
}

/** A field that says who the page acts as; the service gives it a token for an hour. */
function begin({ tools, set }) {
  const list = element('datalist', { id: 'accounts' });
  const input = element('input', { list: 'accounts', id: 'act-as', placeholder: 'anybody', autocomplete: 'off', size: 14, onchange: () => set('as', input.value.trim()) });
  tools.append(field('Act as', input), list);
  ask('/_ops/accounts').then(({ accounts }) => list.append(...accounts.map(({ id, email }) => element('option', { value: id }, email))), () => {});
}

export const service = {
  error,
  carried: ['as'],
  begin,
  enter: (carried) => {
    const account = carried.get('as') ?? '';
    document.getElementById('act-as').value = account;
    actAs(account);
  },
  credentials: async (options) => keys(await credentials(options)),
  withoutCredentials: 'Keys and tokens are stored as digests, and no seed file was given at this start. Act as an account above, or start with --seed FILE.',
  recipes,
  counts,
  addresses: () => [['Discovery document', element('a', { href: address('/$discovery/rest', { version: 'v3' }) }, '/$discovery/rest?version=v3')]],
  firstSteps: 'The store is empty: upload a video as the recipe below says, start with --seed FILE, or make a store of any size with video-api generate.',
  views: [channels, videos, playlists, comments, quota],
};
