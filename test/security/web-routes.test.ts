import { readdirSync, readFileSync } from 'node:fs';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openBrowser } from '../plugins/web/browser.js';
import { webPeople } from './web-people.js';

type Browser = ReturnType<typeof openBrowser>;
type Person = 'nobody' | 'member' | 'stranger' | 'admin' | 'owner';
type Statuses = Readonly<Record<Person, number>>;

interface Route {
  /** The route in the server's notation. */
  readonly route: string;
  readonly ask: (browser: Browser, guildId: string) => ReturnType<Browser['get']>;
  readonly expected: Statuses;
}

const all = (status: number): Statuses => ({
  nobody: status,
  member: status,
  stranger: status,
  admin: status,
  owner: status,
});
const signedIn = (status: number): Statuses => ({ ...all(status), nobody: 401 });
/** `admin/settings`: for all who may run `!set`. */
const admins: Statuses = { nobody: 401, member: 403, stranger: 403, admin: 200, owner: 200 };
const PAGE = '/api/pages/admin/plugins';

/** Every route of the server, with the expected status for each person. Pages are tested in `web-matrix.test.ts`. */
const ROUTES: readonly Route[] = [
  { route: '/api/session', ask: ({ get }) => get('/api/session'), expected: all(200) },
  { route: '/api/pages', ask: ({ get }, guild) => get(`/api/pages?guild=${guild}`), expected: signedIn(200) },
  { route: '/api/pages/:plugin/:page', ask: ({ get }, guild) => get(`${PAGE}?guild=${guild}`), expected: admins },
  {
    route: '/api/pages/:plugin/:page/card',
    ask: ({ get }, guild) => get(`${PAGE}/card?guild=${guild}`),
    expected: admins,
  },
  {
    route: '/api/pages/:plugin/:page/acts/:act',
    ask: ({ act }, guild) => act(`${PAGE}/acts/enable?guild=${guild}`, {}, { 'x-csrf-token': 'guess' }),
    expected: signedIn(403),
  },
  {
    route: '/api/pages/:plugin/:page/files/:file',
    ask: ({ get }) => get('/api/pages/admin/backups/files/backup?name=..%2f..%2fsecrets.json'),
    // The owner gets an error sentence, because there is no such backup.
    expected: { nobody: 401, member: 403, stranger: 403, admin: 403, owner: 422 },
  },
  {
    route: '/api/choices',
    ask: ({ get }, guild) => get(`/api/choices?kind=channel&guild=${guild}`),
    expected: signedIn(200),
  },
  {
    route: '/api/events',
    ask: ({ get }, guild) => get(`/api/events?page=admin/nothing&guild=${guild}`),
    expected: signedIn(404),
  },
  { route: '/auth/link', ask: ({ follow, url }) => follow(`${url}/sign-in#guess`), expected: all(403) },
  {
    route: '/auth/sign-out',
    ask: ({ act }) => act('/auth/sign-out', {}, { 'x-csrf-token': 'guess' }),
    expected: signedIn(403),
  },
  // These are last, because they replace the browser's only cookie.
  { route: '/auth/discord', ask: ({ get }) => get('/auth/discord'), expected: all(303) },
  { route: 'CALLBACK', ask: ({ get }) => get('/auth/discord/callback?code=x&state=y'), expected: all(403) },
];

/** Not signed in, a member, a member of another server, an admin, and the owner of server and bot. */
async function visit(host: TestHost): Promise<Readonly<Record<Person, Browser>>> {
  const { member, stranger, admin, owner } = await webPeople(host);
  const browserOf = async (userId: string) => {
    const browser = openBrowser(host);
    await browser.signIn(userId);
    return browser;
  };
  return {
    nobody: openBrowser(host),
    member: await browserOf(member.id),
    stranger: await browserOf(stranger.id),
    admin: await browserOf(admin.id),
    owner: await browserOf(owner.id),
  };
}

const start = () =>
  createTestHost({
    plugins: readdirSync('plugins').filter((name) => !name.startsWith('.')),
    env: { CINNABAR_WEB: '0', DISCORD_CLIENT_SECRET: 'secret of Cinnabar' },
    printErrors: false,
  });

const PEOPLE: readonly Person[] = ['nobody', 'member', 'stranger', 'admin', 'owner'];
const pagesAnswer = z.object({ pages: z.array(z.unknown()) });
const choicesAnswer = z.object({ choices: z.array(z.unknown()) });
const sessionAnswer = z.object({ csrf: z.string().nullable(), guilds: z.array(z.object({ id: z.string() })) });

describe('web: every route of the server', () => {
  it('is among those whose answers are known here', () => {
    const source = readFileSync('plugins/web/src/server.ts', 'utf8');
    const declared = [...source.matchAll(/\bapp\.(?:get|post|put|patch|delete|all|route)\(\s*'?([^',\s]+)/g)];
    const known = [...ROUTES.map(({ route }) => route), 'path'];
    expect(declared.map(([, path]) => path).sort()).to.deep.equal(known.sort());
  });

  it('answers each person as it should', async () => {
    await using host = await start();
    const browsers = await visit(host);
    for (const { route, ask, expected } of ROUTES) {
      for (const person of PEOPLE) {
        const { status, body } = await ask(browsers[person], host.guild.id);
        expect(status, `${person}: ${route}: ${JSON.stringify(body).slice(0, 200)}`).to.equal(expected[person]);
      }
    }
  });

  it('shows nothing of a server to an admin of another one', async () => {
    await using host = await start();
    const browsers = await visit(host);
    const ask = async (person: Person, path: string) => (await browsers[person].get(path)).body;
    const guild = `guild=${host.guild.id}`;
    expect(pagesAnswer.parse(await ask('stranger', `/api/pages?${guild}`)).pages, 'pages').to.deep.equal([]);
    for (const kind of ['channel', 'role', 'user']) {
      const { choices } = choicesAnswer.parse(await ask('stranger', `/api/choices?kind=${kind}&${guild}`));
      expect(choices, kind).to.deep.equal([]);
    }
    const { guilds } = sessionAnswer.parse(await ask('stranger', '/api/session'));
    expect(guilds.map(({ id }) => id)).not.to.include(host.guild.id);
    expect(sessionAnswer.parse(await ask('nobody', '/api/session'))).to.deep.equal({ csrf: null, guilds: [] });
  });

  it('names no channel to those who cannot see it', async () => {
    await using host = await start();
    host.guild.createChannel({ name: 'hidden-plans', overwrites: [{ for: host.alice, deny: ['ViewChannel'] }] });
    await host.settled();
    const { member, owner } = await visit(host);
    const path = `/api/choices?kind=channel&search=hidden&guild=${host.guild.id}`;
    expect(choicesAnswer.parse((await owner.get(path)).body).choices).to.have.length(1);
    expect(choicesAnswer.parse((await member.get(path)).body).choices).to.deep.equal([]);
  });
});
