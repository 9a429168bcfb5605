import { request } from 'node:http';
import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import { AuditLog, definePlugin, PersonalDataStore, UserError, WebServer, webAct, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { useSharedHost } from '../../support/shared-host.js';
import { openBrowser } from './browser.js';

const SCRIPT = '<script>alert(1)</script>';

/** A plugin with its own page, an act, and an endpoint for programs. */
const garden = definePlugin({
  manifest: { id: 'garden', version: '1.0.0', description: 'Grows', intents: ['GuildMessages', 'MessageContent'] },
  setup({ command, page, route }) {
    let watered = 0;
    command({
      name: 'water',
      description: 'Water it',
      access: { tier: 'mod', where: 'guild' },
      run: (ctx) => ctx.reply('💧'),
    });
    page({
      name: 'beds',
      title: 'Beds',
      about: 'guild',
      group: 'server',
      access: { command: 'water' },
      view: ({ query }) => ({ blocks: [{ kind: 'text', text: `${watered} × ${query.note ?? SCRIPT}` }] }),
      acts: {
        water: webAct({
          input: z.object({ times: z.number().int().min(1).max(3) }),
          effect: 'changes',
          audit: ({ times }) => `water ${times}`,
          run({ times }) {
            if (times === 3) throw new UserError('That would drown it.');
            watered += times;
            return 'Watered.';
          },
        }),
        shut: webAct({
          input: z.object({}),
          effect: 'changes',
          access: { tier: 'botOwner' },
          run: () => 'Shut.',
        }),
      },
    });
    route({ path: '/hook', handle: (_, response) => response.end('hooked') });
  },
});

const GARDEN: TestHostOptions = { plugins: ['admin', 'web', garden], env: { CINNABAR_WEB: '0' }, printErrors: false };
const start = (options: Partial<TestHostOptions> = {}) => createTestHost({ ...GARDEN, ...options });

const beds = (host: TestHost) => `/api/pages/garden/beds?guild=${host.guild.id}`;
const water = (host: TestHost) => `/api/pages/garden/beds/acts/water?guild=${host.guild.id}`;

/** The content of every page of the book by its path, with empty text for its images and styles: follows all links from the first page. */
async function readBook(browser: ReturnType<typeof openBrowser>): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const wanted = ['/docs/'];
  for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
    if (found.has(path)) continue;
    const { body, headers, status } = await browser.get(path);
    expect(status, path).to.equal(200);
    expect(headers.get('content-security-policy'), path).to.include("script-src 'self'");
    const text = headers.get('content-type')?.startsWith('text/html') === true ? String(body) : '';
    found.set(path, text);
    for (const [, address = ''] of text.matchAll(/(?:href|src)="(\/docs[^"#]*)/g)) wanted.push(address);
  }
  return found;
}

describe('web: the book', () => {
  const open = useSharedHost(() => GARDEN);

  it('is public, and each of its links leads to a page, an image or a heading', async () => {
    await using host = await open();
    const browser = openBrowser(host);
    expect(await browser.get('/docs')).to.deep.include({ status: 308 });
    const book = await readBook(browser);
    const pages = [...book].filter(([, text]) => text !== '');
    expect(pages.length).to.be.above(50);
    for (const [path, text] of pages) {
      expect(text, path).to.match(/<h1 id="/);
      for (const [, target = '', heading = ''] of text.matchAll(/href="(\/docs[^"#]*|)#([^"]+)"/g)) {
        const there = book.get(target === '' ? path : target) ?? '';
        expect(there.includes(`id="${decodeURI(heading)}"`), `${path} → ${target}#${heading}`).to.equal(true);
      }
    }
  });

  it('has nothing else, and nothing from outside of its folder', async () => {
    await using host = await open();
    const browser = openBrowser(host);
    for (const path of ['/docs/nothing', '/docs/../package.json', '/docs/%2e%2e/index', '/docs/..%2f..%2fpackage.json'])
      expect((await browser.send(path)).status, path).not.to.equal(500);
    expect((await browser.send('/docs/nothing')).status).to.equal(404);
    expect((await browser.send('/docs/..%2f..%2fpackage.json')).status).to.equal(404);
  });
});

describe('web: signing in', () => {
  it('works once with a link, which gives a new session whatever the browser had', async () => {
    await using host = await start();
    const browser = openBrowser(host);
    expect(await browser.get('/api/pages')).to.deep.include({ status: 401 });
    const { status, headers } = await browser.signIn(host.you.id);
    expect(status).to.equal(200);
    expect(headers.get('set-cookie')).to.match(/HttpOnly.*SameSite=Lax/i);
    const first = browser.cookie;
    await browser.signIn(host.you.id);
    expect(browser.cookie).not.to.equal(first);
    expect((await browser.send('/api/pages', { headers: { cookie: first } })).status, 'the former session').to.equal(
      401,
    );
  });

  it('takes no link twice, none that is old, and none that was guessed', async () => {
    await using host = await start();
    const link = host.resolve(WebServer).signInLink(host.you.id);
    const browser = openBrowser(host);
    expect((await browser.follow(link)).status).to.equal(200);
    expect((await browser.follow(link)).status).to.equal(403);
    const late = host.resolve(WebServer).signInLink(host.you.id);
    await host.advance(11 * 60_000);
    expect((await browser.follow(late)).status).to.equal(403);
    const guesses = await Promise.all(
      Array.from({ length: 30 }, (_, one) => browser.follow(`${browser.url}/sign-in#guess${one}`)),
    );
    expect(guesses.map(({ status }) => status)).to.include(429);
  });

  it('is not used up by a chat that looks at it for a preview', async () => {
    await using host = await start();
    const [crawler, browser] = [openBrowser(host), openBrowser(host)];
    const link = host.resolve(WebServer).signInLink(host.you.id);
    for (const method of ['HEAD', 'GET']) await crawler.send(link, { method });
    expect(crawler.cookie).to.equal('');
    expect((await browser.follow(link)).status).to.equal(200);
  });

  it('is for its own page: another one, and a form, are refused', async () => {
    await using host = await start();
    const browser = openBrowser(host);
    const token = new URL(host.resolve(WebServer).signInLink(host.you.id)).hash.slice(1);
    const foreign = { method: 'POST', headers: { origin: 'https://evil.example', 'content-type': 'application/json' } };
    expect((await browser.send('/auth/link', { ...foreign, body: JSON.stringify({ token }) })).status).to.equal(403);
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    expect((await browser.send('/auth/link', { ...form, body: `token=${token}` })).status).to.equal(415);
    expect(browser.cookie).to.equal('');
  });

  it('survives a restart, ends on request, and after a week without a visit', async () => {
    await using before = await start();
    const browser = openBrowser(before);
    await browser.signIn(before.you.id);
    const { cookie } = browser;
    await before.stop();
    await using host = await start({ world: before, dataDir: before.dataDir });
    const again = openBrowser(host);
    const pages = () => again.send('/api/pages', { headers: { cookie } });
    expect((await pages()).status).to.equal(200);
    await host.advance(8 * 24 * 60 * 60_000);
    expect((await pages()).status).to.equal(401);
    await again.signIn(host.you.id);
    expect((await again.act('/auth/sign-out', {})).status).to.equal(200);
    expect((await again.get('/api/pages')).status).to.equal(401);
  });

  it('ends for a user who deletes their data: the sessions are deleted', async () => {
    await using host = await start();
    const [hers, his] = [openBrowser(host), openBrowser(host)];
    await hers.signIn(host.alice.id);
    await his.signIn(host.bob.id);
    await host.resolve(PersonalDataStore).forget(host.alice.id);
    expect((await hers.get('/api/pages')).status).to.equal(401);
    expect((await his.get('/api/pages')).status).to.equal(200);
  });

  it('comes by direct message to the owner of the bot, who alone may ask for it', async () => {
    await using host = await start();
    host.you.say(host.general, '!web link');
    host.alice.say(host.general, '!web link');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: /\/sign-in#\S{40}/ });
    const said = host.general.messages.map(({ content }) => content).join('\n');
    expect(said).not.to.include('/sign-in');
    expect(said).to.match(/owner/);
  });
});

describe('web: pages', () => {
  it('are those whose command the person may run, and follow the access rules of the server', async () => {
    await using host = await start();
    const [owner, member] = [openBrowser(host), openBrowser(host)];
    await owner.signIn(host.you.id);
    await member.signIn(host.alice.id);
    expect((await owner.get(beds(host))).status).to.equal(200);
    const refused = await member.get(beds(host));
    expect(refused.status).to.equal(403);
    expect(refused.body)
      .to.have.property('error')
      .that.matches(/moderator/);
    host.you.say(host.general, `!access allow water <@${host.alice.id}>`);
    await host.settled();
    expect((await member.get(beds(host))).status).to.equal(200);
    expect((await member.act(`/api/pages/garden/beds/acts/shut?guild=${host.guild.id}`, {})).status).to.equal(403);
    host.you.say(host.general, `!access deny water <@${host.alice.id}>`);
    await host.settled();
    expect((await member.get(beds(host))).status).to.equal(403);
  });

  it('do what they declare, refuse what is not as declared, and stand in the audit with who did it', async () => {
    await using host = await start();
    const browser = openBrowser(host);
    await browser.signIn(host.you.id);
    expect(await browser.act(water(host), { times: 2 })).to.deep.include({ status: 200 });
    expect((await browser.act(water(host), { times: 9 })).status).to.equal(422);
    const drowned = await browser.act(water(host), { times: 3 });
    expect(drowned).to.deep.include({ status: 422, body: { error: 'That would drown it.' } });
    const view = await browser.get(beds(host));
    expect(view.body).to.have.nested.property('view.blocks[0].text', `2 × ${SCRIPT}`);
    await host.settled();
    const acts = await host.resolve(AuditLog).recent(host.guild.id, 10);
    expect(acts.map(({ act, outcome, userId }) => ({ act, outcome, userId }))).to.deep.include.members([
      { act: 'water 2', outcome: 'done', userId: host.you.id },
      { act: 'water 3', outcome: 'refused', userId: host.you.id },
    ]);
  });

  it('are gone where their plugin is switched off, and when it is unloaded', async () => {
    await using host = await start();
    const browser = openBrowser(host);
    await browser.signIn(host.you.id);
    await host.plugins.disable(host.guild.id, 'garden');
    expect((await browser.get(beds(host))).status).to.equal(403);
    await host.plugins.enable(host.guild.id, 'garden');
    expect((await browser.get(beds(host))).status).to.equal(200);
    expect(await browser.get('/garden/hook')).to.deep.include({ status: 200, body: 'hooked' });
    await host.plugins.unload('garden');
    expect((await browser.get(beds(host))).status).to.equal(404);
    expect((await browser.get('/garden/hook')).body).not.to.equal('hooked');
  });
});

describe('web: what does not come from its own pages', () => {
  const open = useSharedHost(() => GARDEN);

  it('changes nothing: without the token of the session, or from another origin', async () => {
    await using host = await open();
    const browser = openBrowser(host);
    await browser.signIn(host.you.id);
    expect((await browser.act(water(host), { times: 1 }, { 'x-csrf-token': 'guess' })).status).to.equal(403);
    expect((await browser.act(water(host), { times: 1 }, { origin: 'https://evil.example' })).status).to.equal(403);
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'input=1' };
    expect((await browser.send(water(host), form)).status).to.be.within(400, 499);
    expect((await browser.get(beds(host))).body)
      .to.have.nested.property('view.blocks[0].text')
      .that.matches(/^0 ×/);
  });

  it('is refused under another name of the machine', async () => {
    await using host = await open();
    const { port } = new URL(openBrowser(host).url);
    const status = await new Promise((resolve, reject) => {
      request({ port, host: '127.0.0.1', path: '/api/session', headers: { host: 'evil.example' } }, ({ statusCode }) =>
        resolve(statusCode),
      )
        .on('error', reject)
        .end();
    });
    expect(status).to.equal(403);
  });

  it('reads no file outside of the pages, follows no redirect, and takes no endless body', async () => {
    await using host = await open();
    const browser = openBrowser(host);
    await browser.signIn(host.you.id);
    for (const path of [
      '/assets/../../package.json',
      '/assets/%2e%2e/%2e%2e/package.json',
      '/..%2fpackage.json',
      '/assets/..\\package.json',
    ]) {
      const { body } = await browser.get(path);
      expect(String(body), path).not.to.include('"name"');
    }
    const { headers } = await browser.get('/auth/discord?next=https://evil.example');
    expect(headers.get('location')).to.equal(null);
    const huge = await browser.act(water(host), { times: 1, note: 'x'.repeat(3_000_000) });
    expect(huge.status).to.equal(413);
  });

  it('finds strict headers on every answer, and words of people only as text', async () => {
    await using host = await open();
    const browser = openBrowser(host);
    await browser.signIn(host.you.id);
    for (const path of ['/', '/api/session', beds(host), '/api/nothing']) {
      const { headers } = await browser.get(path);
      expect(headers.get('content-security-policy'), path)
        .to.match(/default-src 'none'/)
        .and.not.match(/unsafe/);
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
    }
    const { body, headers } = await browser.get(`${beds(host)}&note=${encodeURIComponent(SCRIPT)}`);
    expect(headers.get('content-type')).to.match(/^application\/json/);
    expect(body).to.have.nested.property('view.blocks[0].text', `0 × ${SCRIPT}`);
  });
});

describe('web: the health of the process', () => {
  it('is for the owner of the bot: connections, and what is counted from the first look on', async () => {
    await using host = await start();
    const [owner, member] = [openBrowser(host), openBrowser(host)];
    await owner.signIn(host.you.id);
    await member.signIn(host.alice.id);
    expect((await member.get('/api/pages/web/health')).status).to.equal(403);
    await owner.get('/api/pages/web/health');
    for (let command = 0; command < 3; command += 1) host.you.say(host.general, '!bot info');
    await host.settled();
    await host.advance(60_000);
    const { body } = await owner.get('/api/pages/web/health');
    expect(body).to.have.nested.property('view.blocks[0].figures[0].value.badge', '1 of 1');
    const plot = { title: 'In a minute', kind: 'plot' };
    expect(body).to.have.nested.property('view.blocks[2]').that.includes(plot);
    const rates = z
      .object({
        view: z.object({
          blocks: z.array(
            z.object({ series: z.array(z.object({ points: z.array(z.tuple([z.number(), z.number()])) })).optional() }),
          ),
        }),
      })
      .parse(body);
    const commands = rates.view.blocks[2]?.series?.[0]?.points.map(([, rate]) => rate) ?? [];
    expect(Math.max(...commands), 'commands in a minute').to.be.greaterThan(2);
  });
});
