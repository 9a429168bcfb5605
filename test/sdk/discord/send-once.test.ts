import { isForbidden, isRefusal, isTransient, isUnknown, nonceOf, retryDiscord, sendOnce } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import type { Client } from 'discord.js';
import { type NightCity, nightCity, textChannel } from '../local-discord/support.js';

const POST = { method: 'POST', route: '/channels/:channelId/messages' } as const;
/** discord.js makes this many requests of one. */
const ATTEMPTS_OF_ONE = 4;

/** A clock on which every pause is over at once, and which both sides live by. */
function hastyClock() {
  const clock = createManualClock();
  const pauses: number[] = [];
  const after = (delayMs: number, task: () => void) => {
    pauses.push(delayMs);
    const cancel = clock.after(delayMs, task);
    setImmediate(() => clock.advance(delayMs));
    return cancel;
  };
  return { now: clock.now, after, advance: clock.advance, pauses };
}

describe('sending a message once', () => {
  let city: NightCity;
  let client: Client<true>;
  let clock: ReturnType<typeof hastyClock>;
  const channel = () => textChannel(client, city.general.id);
  const said = () => city.general.messages.map(({ content }) => content);
  const requests = () => city.discord.requests.of('POST', POST.route).length;

  beforeEach(async () => {
    clock = hastyClock();
    city = await nightCity({ clock });
    client = await city.login();
  });
  afterEach(() => city.close());

  it('repeats it with growing pauses while Discord fails, under one nonce', async () => {
    city.discord.faults.rest.fail(503, { ...POST, times: 2 * ATTEMPTS_OF_ONE });
    await sendOnce(channel(), { content: 'hello' }, 'a', { clock });
    expect(clock.pauses).to.deep.equal([1_000, 2_000]);
    expect(said()).to.deep.equal(['hello']);
    const nonces = city.discord.requests.of('POST', POST.route).map(({ body }) => body);
    for (const body of nonces) expect(body).to.include({ nonce: nonceOf('a').nonce, enforce_nonce: true });
  });

  it('makes one message of a request that Discord carries out and then answers with 502', async () => {
    city.discord.faults.rest.fail(502, { ...POST, times: ATTEMPTS_OF_ONE, afterEffect: true });
    const sent = await sendOnce(channel(), { content: 'hello' }, 'a', { clock });
    expect(sent.id).to.equal(city.general.messages[0]?.id);
    expect(said()).to.deep.equal(['hello']);
  });

  it('looks for it before it gives up, where no answer ever comes through', async () => {
    city.discord.faults.rest.fail(502, { ...POST, times: Number.POSITIVE_INFINITY, afterEffect: true });
    const sent = await sendOnce(channel(), { content: 'hello' }, 'a', { clock, pausesMs: [1_000] });
    expect(sent.id).to.equal(city.general.messages[0]?.id);
    expect(said()).to.deep.equal(['hello']);
  });

  it('finds it by its text where the gateway did not tell of it, and takes no other for it', async () => {
    const deaf = await city.login({ intents: ['Guilds'] });
    const there = textChannel(deaf, city.general.id);
    await there.send('hello');
    city.alice.say(city.general, 'hello');
    city.discord.faults.rest.fail(502, { ...POST, times: 2 * ATTEMPTS_OF_ONE, afterEffect: true });
    const sent = await sendOnce(there, { content: 'hello' }, 'a', { clock, pausesMs: [200_000] });
    expect(said()).to.deep.equal(['hello', 'hello', 'hello']);
    expect(sent.id).to.equal(city.general.messages[2]?.id);
  });

  it('looks again instead of repeating it once Discord may have forgotten the nonce', async () => {
    city.discord.faults.rest.fail(502, { ...POST, times: ATTEMPTS_OF_ONE, afterEffect: true });
    const sent = await sendOnce(channel(), { content: 'hello' }, 'a', { clock, pausesMs: [600_000] });
    expect(said()).to.deep.equal(['hello']);
    expect(sent.id).to.equal(city.general.messages[0]?.id);
  });

  it('finds what an earlier process has sent', async () => {
    const { id: before } = await channel().send('before');
    const first = await channel().send('hello');
    clock.advance(3_600_000);
    const sent = await sendOnce(channel(), { content: 'hello' }, 'a', { clock, sentAfter: before });
    expect(sent.id).to.equal(first.id);
    expect(said()).to.deep.equal(['before', 'hello']);
  });

  it('gives up at once when Discord refuses it, or when it is not wanted any more', async () => {
    city.discord.faults.rest.fail(403, { ...POST, body: { message: 'Missing Permissions', code: 50013 } });
    const refused = await sendOnce(channel(), { content: 'hello' }, 'a', { clock }).catch((error: unknown) => error);
    expect([isForbidden(refused), isRefusal(refused), isUnknown(refused), isTransient(refused)]).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    expect(requests()).to.equal(1);
    city.discord.faults.rest.fail(503, { ...POST, times: Number.POSITIVE_INFINITY });
    const ended = await sendOnce(channel(), { content: 'hello' }, 'a', { clock, signal: AbortSignal.abort() }).catch(
      (error: unknown) => error,
    );
    expect(isTransient(ended)).to.equal(true);
    expect(clock.pauses).to.deep.equal([]);
  });
});

describe('errors of Discord', () => {
  it('are told apart: nothing of that id, Discord down, connection cut', async () => {
    const clock = hastyClock();
    const city = await nightCity({ clock });
    const client = await city.login();
    const channel = textChannel(client, city.general.id);
    const errorOf = (request: Promise<unknown>) => request.catch((error: unknown) => error);
    const unknown = await errorOf(channel.messages.fetch('1'));
    expect([isUnknown(unknown), isRefusal(unknown), isTransient(unknown)]).to.deep.equal([true, true, false]);
    city.discord.faults.rest.fail(500, { times: ATTEMPTS_OF_ONE });
    const down = await errorOf(channel.messages.fetch('1'));
    expect([isUnknown(down), isRefusal(down), isTransient(down)]).to.deep.equal([false, false, true]);
    city.discord.faults.rest.drop({ times: ATTEMPTS_OF_ONE });
    const cut = await errorOf(channel.messages.fetch('1'));
    expect([isRefusal(cut), isTransient(cut)]).to.deep.equal([false, true]);
    const own = await errorOf(retryDiscord(clock, () => Promise.reject(new Error('a defect'))));
    expect([isRefusal(own), isTransient(own)]).to.deep.equal([false, false]);
    expect(clock.pauses).to.deep.equal([]);
    await city.close();
  });
});
