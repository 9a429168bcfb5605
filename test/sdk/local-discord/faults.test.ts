import { expect } from 'chai';
import { type Client, RateLimitError } from 'discord.js';
import { handClock, type NightCity, nightCity, refusal, textChannel } from './support.js';

const MESSAGES = '/channels/:channelId/messages';

describe('local Discord: faults and rate limits', () => {
  let city: NightCity;
  let client: Client<true>;
  const start = async (options: Parameters<typeof nightCity>[0] = {}, rest: object = {}) => {
    city = await nightCity(options);
    client = await city.login({ rest: { api: city.discord.api, ...rest } });
  };
  afterEach(() => city.close());

  const send = (content: string) => textChannel(client, city.general.id).send(content);
  const contents = () => city.general.messages.map(({ content }) => content);

  it('fail the next requests of a route, and no others', async () => {
    await start();
    city.discord.faults.rest.fail(503, { method: 'POST', route: MESSAGES, times: 2 });
    await client.rest.get('/users/@me');
    await send('third try');
    expect(city.discord.requests.of('POST', MESSAGES).map(({ status }) => status)).to.deep.equal([503, 503, 200]);
    expect(contents()).to.deep.equal(['third try']);
  });

  it('fail after the effect: what a retry then doubles', async () => {
    await start();
    city.discord.faults.rest.fail(502, { method: 'POST', route: MESSAGES, afterEffect: true });
    await send('twice');
    expect(contents()).to.deep.equal(['twice', 'twice']);
  });

  it('limit the rate of one route, or of all', async () => {
    await start();
    city.discord.faults.rest.rateLimit({ method: 'POST', route: MESSAGES, retryAfterMs: 5 });
    await send('one');
    city.discord.faults.rest.rateLimit({ route: MESSAGES, retryAfterMs: 5, global: true });
    await send('two');
    expect(city.discord.requests.of('POST', MESSAGES).map(({ status }) => status)).to.deep.equal([429, 200, 429, 200]);
  });

  it('cut connections', async () => {
    await start({}, { retries: 0 });
    city.discord.faults.rest.drop({ method: 'POST', route: MESSAGES });
    const error: unknown = await send('lost').catch((reason: unknown) => reason);
    expect(error).to.be.an('error');
    expect(contents()).to.be.empty;
  });

  it('hold an answer back until it is released', async () => {
    await start();
    const release = city.discord.faults.rest.hold({ method: 'POST', route: MESSAGES });
    let done = false;
    const sent = send('late').then(() => {
      done = true;
    });
    await city.discord.settled();
    expect([done, contents()]).to.deep.equal([false, []]);
    release();
    await sent;
    expect(contents()).to.deep.equal(['late']);
  });

  it('slow every answer down', async () => {
    await start();
    city.discord.faults.rest.latencyMs = 30;
    const before = performance.now();
    await client.rest.get('/users/@me');
    expect(performance.now() - before).to.be.at.least(29);
    city.discord.faults.clear();
  });

  it('strict: five messages in five seconds, then 429 with the headers of Discord', async () => {
    const clock = handClock();
    await start({ clock, rateLimits: 'strict' }, { rejectOnRateLimit: () => true });
    for (let index = 0; index < 5; index += 1) await send(String(index));
    const error: unknown = await send('six').catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(RateLimitError).and.include({ limit: 5, global: false });

    const raw = await fetch(`${city.discord.api}/v10/channels/${city.general.id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bot ${city.app.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'six' }),
    });
    expect(raw.status).to.equal(429);
    expect(raw.headers.get('x-ratelimit-remaining')).to.equal('0');
    expect(await raw.json()).to.deep.equal({ message: 'You are being rate limited.', retry_after: 5, global: false });
    clock.advance(5_000);
    expect(
      (await fetch(`${city.discord.api}/v10/users/@me`, { headers: { authorization: `Bot ${city.app.token}` } }))
        .status,
    ).to.equal(200);
  });

  it('strict: fifty requests a second in all', async () => {
    await start({ clock: handClock() });
    city.discord.rateLimits.mode = 'strict';
    const get = (id: string) =>
      fetch(`${city.discord.api}/v10/channels/${id}`, { headers: { authorization: `Bot ${city.app.token}` } });
    const channels = Array.from({ length: 6 }, (_, index) => city.guild.createChannel({ name: `c${index}` }));
    const statuses: number[] = [];
    for (const { id } of channels.slice(0, 5)) {
      for (let index = 0; index < 10; index += 1) statuses.push((await get(id)).status);
    }
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    const refused = await get(channels[5]?.id ?? '');
    expect([refused.status, refused.headers.get('x-ratelimit-global')]).to.deep.equal([429, 'true']);
  });

  it('turns web pages away', async () => {
    await start();
    const page = await fetch(`${city.discord.api}/v10/gateway`, { headers: { origin: 'https://example.com' } });
    expect(page.status).to.equal(403);
  });

  it('answers what it does not know as Discord does', async () => {
    await start();
    await refusal(client.rest.get('/nonsense/1'), 0);
    const post = (path: string, body: string) =>
      fetch(`${city.discord.api}${path}`, {
        method: 'POST',
        body,
        headers: { authorization: `Bot ${city.app.token}`, 'content-type': 'application/json' },
      });
    expect(await (await post(`/v10/channels/${city.general.id}/messages`, '{"content":')).json()).to.have.property(
      'code',
      50109,
    );
    expect(await (await post(`/v9/channels/${city.general.id}/messages`, '{}')).json()).to.have.property('code', 50041);
    const anonymous = await fetch(`${city.discord.api}/v10/users/@me`);
    expect([anonymous.status, await anonymous.json()]).to.deep.equal([401, { message: '401: Unauthorized', code: 0 }]);
    expect((await fetch(`${city.discord.api}/v10/gateway`)).status).to.equal(200);
  });
});
