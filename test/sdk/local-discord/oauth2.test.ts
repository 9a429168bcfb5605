import { createHash } from 'node:crypto';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { expect } from 'chai';
import { z } from 'zod';

const BACK = 'http://127.0.0.1:8080/auth/discord/callback';
/** A response with a token, or with an error. */
const answered = z.looseObject({ access_token: z.string().default('') });
const VERIFIER = 'a-verifier-that-only-the-application-knows-0123456789';

async function start() {
  let time = Date.UTC(2026, 0, 1);
  const discord = await startLocalDiscord({ clock: { now: () => time } });
  const you = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Bot', owner: you });
  application.redirectUris.add(BACK);
  const page = (more: Readonly<Record<string, string>> = {}) => {
    const asked = { client_id: application.id, redirect_uri: BACK, response_type: 'code', scope: 'identify' };
    return `https://discord.com/oauth2/authorize?${new URLSearchParams({ ...asked, ...more })}`;
  };
  const exchange = async (code: string, more: Readonly<Record<string, string>> = {}) => {
    const fields = { grant_type: 'authorization_code', code, redirect_uri: BACK, client_id: application.id };
    const body = new URLSearchParams({ ...fields, client_secret: application.clientSecret, ...more });
    const response = await fetch(`${discord.api}/v10/oauth2/token`, { method: 'POST', body });
    return { status: response.status, body: answered.parse(await response.json()) };
  };
  const me = (token: string) =>
    fetch(`${discord.api}/v10/users/@me`, { headers: { authorization: `Bearer ${token}` } });
  const codeOf = (address: string) => new URL(address).searchParams.get('code') ?? '';
  return {
    you,
    discord,
    page,
    exchange,
    me,
    codeOf,
    advance: (ms: number) => {
      time += ms;
    },
    [Symbol.asyncDispose]: discord.close,
  };
}

describe('local Discord: OAuth2', () => {
  it('sends the browser back with a code and the state, which becomes a token that speaks for the person', async () => {
    await using oauth = await start();
    const back = new URL(oauth.you.authorize(oauth.page({ state: 'xyz' })));
    expect(`${back.origin}${back.pathname}`).to.equal(BACK);
    expect(back.searchParams.get('state')).to.equal('xyz');
    const { status, body } = await oauth.exchange(oauth.codeOf(back.href));
    expect(status).to.equal(200);
    expect(body).to.include({ token_type: 'Bearer', scope: 'identify', expires_in: 604_800 });
    const user = await (await oauth.me(body.access_token)).json();
    expect(user).to.include({ id: oauth.you.id, username: 'you' });
    oauth.advance(604_801_000);
    expect((await oauth.me(body.access_token)).status, 'a week later').to.equal(401);
  });

  it('takes a code once, in time, from its application alone, and for the same address', async () => {
    await using oauth = await start();
    const code = () => oauth.codeOf(oauth.you.authorize(oauth.page()));
    const once = code();
    expect((await oauth.exchange(once)).status).to.equal(200);
    expect(await oauth.exchange(once)).to.deep.include({ status: 400 });
    const guessed = await oauth.exchange(code(), { client_secret: 'guess' });
    expect(guessed.status).to.equal(401);
    expect(guessed.body).to.include({ error: 'invalid_client' });
    expect((await oauth.exchange(code(), { redirect_uri: 'https://evil.example' })).body).to.include({
      error: 'invalid_grant',
    });
    const late = code();
    oauth.advance(11 * 60_000);
    expect((await oauth.exchange(late)).body).to.include({ error: 'invalid_grant' });
  });

  it('takes a challenged code only with its verifier', async () => {
    await using oauth = await start();
    const code_challenge = createHash('sha256').update(VERIFIER).digest('base64url');
    const code = () => oauth.codeOf(oauth.you.authorize(oauth.page({ code_challenge, code_challenge_method: 'S256' })));
    expect((await oauth.exchange(code())).status).to.equal(400);
    expect((await oauth.exchange(code(), { code_verifier: 'another' })).status).to.equal(400);
    expect((await oauth.exchange(code(), { code_verifier: VERIFIER })).status).to.equal(200);
  });

  it('refuses when the person does, and redirects only to registered addresses', async () => {
    await using oauth = await start();
    const back = new URL(oauth.you.authorize(oauth.page({ state: 'xyz' }), { deny: true }));
    expect(Object.fromEntries(back.searchParams)).to.include({ error: 'access_denied', state: 'xyz' });
    expect(() => oauth.you.authorize(oauth.page({ redirect_uri: 'https://evil.example' }))).to.throw(/Invalid Form/);
    expect(() => oauth.you.authorize(oauth.page({ client_id: oauth.you.id }))).to.throw(/Unknown Application/);
  });

  it('lets a token ask for nothing beyond its scopes', async () => {
    await using oauth = await start();
    const { body } = await oauth.exchange(oauth.codeOf(oauth.you.authorize(oauth.page({ scope: 'guilds' }))));
    expect((await oauth.me(body.access_token)).status).to.equal(401);
    const guilds = await fetch(`${oauth.discord.api}/v10/users/@me/guilds`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect(guilds.status, 'only the bot asks for these').to.equal(401);
  });
});
