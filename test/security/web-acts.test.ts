import { readdirSync } from 'node:fs';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { AuditLog, NO_CHANNEL, WebPages, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openBrowser } from '../plugins/web/browser.js';
import { webPeople } from './web-people.js';

type Browser = ReturnType<typeof openBrowser>;

const listed = z.object({ pages: z.array(z.object({ id: z.string(), about: z.enum(['guild', 'bot']) })) });

/** The acts of a view's forms and buttons, at any depth. */
function actsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(actsIn);
  if (typeof value !== 'object' || value === null) return [];
  const own = 'act' in value && typeof value.act === 'string' ? [value.act] : [];
  return [...own, ...Object.values(value).flatMap(actsIn)];
}

interface Act {
  readonly page: string;
  /** The path with the query that names the server. */
  readonly path: string;
  readonly about: 'guild' | 'bot';
}

/** All acts that any page offers to the owner. */
async function offered(host: TestHost, owner: Browser): Promise<readonly Act[]> {
  const found: Act[] = [];
  for (const query of [`?guild=${host.guild.id}`, '']) {
    const { pages } = listed.parse((await owner.get(`/api/pages${query}`)).body);
    for (const { id: page, about } of pages) {
      const { body } = await owner.get(`/api/pages/${page}${query}`);
      for (const act of new Set(actsIn(body)))
        found.push({ page, about, path: `/api/pages/${page}/acts/${act}${query}` });
    }
  }
  return found;
}

async function open() {
  const plugins = readdirSync('plugins').filter((name) => !name.startsWith('.'));
  const host = await createTestHost({ plugins, env: { CINNABAR_WEB: '0' }, printErrors: false });
  const { admin: chief, stranger } = await webPeople(host);
  const browserOf = async (userId: string) => {
    const browser = openBrowser(host);
    await browser.signIn(userId);
    return browser;
  };
  const owner = await browserOf(host.you.id);
  return { host, chief, stranger, owner, browserOf, acts: await offered(host, owner) };
}

describe('web: every act that a page offers', () => {
  it('is refused to a user who may not see its page, with their own token and a valid input', async () => {
    const { host, chief, stranger, browserOf, acts } = await open();
    await using _ = host;
    expect(acts.length).to.be.greaterThan(20);
    const before = (await host.resolve(AuditLog).recent(host.guild.id, 100)).length;
    for (const person of [host.alice, stranger, chief]) {
      const browser = await browserOf(person.id);
      for (const { page, path, about } of acts) {
        const guildId = about === 'guild' ? host.guild.id : null;
        const seen = await host.resolve(WebPages).explain(page, { userId: person.id, guildId, channelId: NO_CHANNEL });
        if (seen.allowed) continue;
        const { status, body } = await browser.act(path, { plugin: 'welcome', key: 'channel', name: 'x' });
        expect(status, `${person.id} ${path}: ${JSON.stringify(body)}`).to.equal(403);
      }
    }
    expect((await host.resolve(AuditLog).recent(host.guild.id, 100)).length, 'what was done').to.equal(before);
  });

  it('needs a session, its token, and a request that one of its own pages could have sent', async () => {
    const { host, chief, owner, browserOf, acts } = await open();
    await using _ = host;
    const nobody = openBrowser(host);
    const { body } = await (await browserOf(chief.id)).get('/api/session');
    const foreign = z.object({ csrf: z.string() }).parse(body).csrf;
    for (const { path } of acts) {
      expect((await nobody.act(path, {})).status, `nobody ${path}`).to.equal(401);
      expect((await owner.act(path, {}, { 'x-csrf-token': '' })).status, `no token ${path}`).to.equal(403);
      expect((await owner.act(path, {}, { 'x-csrf-token': foreign })).status, `another's ${path}`).to.equal(403);
      expect((await owner.act(path, {}, { origin: 'https://evil.example' })).status, `origin ${path}`).to.equal(403);
      expect((await owner.get(path)).status, `GET ${path}`).to.equal(404);
    }
  });

  it('is about a server that the person is in, whatever the address says', async () => {
    const { host, stranger, browserOf, acts } = await open();
    await using _ = host;
    const browser = await browserOf(stranger.id);
    const own = acts.filter(({ about }) => about === 'guild');
    for (const { path } of own) {
      const [bare = ''] = path.split('?');
      for (const guild of [host.guild.id, '', '../0', `${host.guild.id}&guild=${host.guild.id}`]) {
        const { status } = await browser.act(`${bare}?guild=${guild}`, { plugin: 'welcome' });
        expect(status, `${bare} ${guild}`).to.be.oneOf([400, 403]);
      }
      // The page does not exist for the bot as a whole.
      expect((await browser.act(bare, { plugin: 'welcome' })).status, bare).to.equal(404);
    }
  });

  it('that adds or restores a rule follows the rules about its own command: to deny is another one than to allow', async () => {
    const { host, chief, browserOf } = await open();
    await using _ = host;
    const browser = await browserOf(chief.id);
    const act = async (name: string, effect: 'allow' | 'deny') => {
      const whole = { target: { kind: 'plugin', name: 'party' }, subject: { kind: 'everyone' } };
      const input = name === 'add' ? { effect, what: 'party' } : { effect, ...whole };
      return (await browser.act(`/api/pages/admin/access/acts/${name}?guild=${host.guild.id}`, input)).status;
    };
    expect(await act('add', 'deny')).to.equal(200);
    for (const command of ['access deny', 'access allow'] as const) {
      host.you.say(host.general, `!access deny "${command}" @chief`);
      await host.settled();
    }
    for (const name of ['add', 'restore'])
      for (const effect of ['allow', 'deny'] as const)
        expect(await act(name, effect), `${name} ${effect}`).to.equal(403);
    host.you.say(host.general, '!access clear "access allow" @chief');
    await host.settled();
    expect([await act('add', 'deny'), await act('add', 'allow')]).to.deep.equal([403, 200]);
  });
});
