import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import { openBrowser } from './browser.js';

async function start(options: Partial<Parameters<typeof createTestHost>[0]> = {}) {
  const secret = { DISCORD_CLIENT_SECRET: 'secret of Cinnabar' };
  const host = await createTestHost({
    plugins: ['admin', 'web'],
    env: { CINNABAR_WEB: '0', ...secret },
    printErrors: false,
    ...options,
  });
  host.application.redirectUris.add(`${openBrowser(host).url}/auth/discord/callback`);
  return host;
}

type Browser = ReturnType<typeof openBrowser>;

/** Begins a sign-in in a browser. @returns the address to which Discord redirects */
async function consent(browser: Browser, person: TestHost['you'], options: { deny?: boolean } = {}): Promise<string> {
  const { status, headers } = await browser.get('/auth/discord');
  expect(status).to.equal(303);
  const back = new URL(person.authorize(headers.get('location') ?? '', options));
  return `${back.pathname}${back.search}`;
}

describe('web: signing in with Discord', () => {
  it('requests only the identity, and opens a session for the user who agreed', async () => {
    await using host = await start();
    const browser = openBrowser(host);
    expect((await browser.get('/api/session')).body).to.have.nested.property('signIn.discord', true);
    const asked = new URL((await browser.get('/auth/discord')).headers.get('location') ?? '');
    expect(Object.fromEntries(asked.searchParams)).to.include({
      client_id: host.application.id,
      scope: 'identify',
      response_type: 'code',
      code_challenge_method: 'S256',
    });
    const { status, headers } = await browser.get(await consent(browser, host.alice));
    expect(status).to.equal(303);
    expect(headers.get('location')).to.equal('/');
    const { body } = await browser.get('/api/session');
    expect(body).to.have.nested.property('user.id', host.alice.id);
    expect(body).to.have.property('isOwner', false);
  });

  it('is bound to the browser that began it, and to one use within ten minutes', async () => {
    await using host = await start();
    const [alice, victim] = [openBrowser(host), openBrowser(host)];
    const planted = await consent(alice, host.alice);
    expect((await victim.get(planted)).status, 'a browser that began nothing').to.equal(403);
    await victim.get('/auth/discord');
    expect((await victim.get(planted)).status, 'a browser that began another one').to.equal(403);
    expect((await alice.get(planted)).status).to.equal(303);
    expect((await alice.get(planted)).status, 'a second time').to.equal(403);
    const late = await consent(victim, host.alice);
    await host.advance(11 * 60_000);
    expect((await victim.get(late)).status, 'too late').to.equal(403);
    expect((await victim.get('/api/session')).body).to.have.property('user', null);
  });

  it('accepts no code that Discord does not know, and redirects a user who declines to the start', async () => {
    await using host = await start();
    const browser = openBrowser(host);
    const back = await consent(browser, host.alice);
    expect((await browser.get(back.replace(/code=[^&]*/, 'code=guess'))).status).to.equal(403);
    const { status, headers } = await browser.get(await consent(browser, host.alice, { deny: true }));
    expect(status).to.equal(303);
    expect(headers.get('location')).to.equal('/');
    expect((await browser.get('/api/session')).body).to.have.property('user', null);
  });

  it('keeps to its own address, whatever the query says', async () => {
    await using host = await start();
    const browser = openBrowser(host);
    const { headers } = await browser.get('/auth/discord?redirect_uri=https://evil.example&next=https://evil.example');
    const asked = new URL(headers.get('location') ?? '');
    expect(asked.searchParams.get('redirect_uri')).to.equal(`${browser.url}/auth/discord/callback`);
    const after = await browser.get(`${await consent(browser, host.alice)}&next=https://evil.example`);
    expect(after.headers.get('location')).to.equal('/');
  });

  it('is not offered without a secret', async () => {
    await using host = await start({ env: { CINNABAR_WEB: '0' } });
    const browser = openBrowser(host);
    expect((await browser.get('/api/session')).body).to.have.nested.property('signIn.discord', false);
    expect((await browser.get('/auth/discord')).status).to.equal(404);
  });
});
