import {
  isForbidden,
  isRefusal,
  isTransient,
  isUnknown,
  nonceOf,
  retryDiscord,
  sendOnce,
  sendText,
  textMessages,
} from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import type { Client } from 'discord.js';
import { type NightCity, nightCity, textChannel } from '../local-discord/support.js';

const POST = { method: 'POST', route: '/channels/:channelId/messages' } as const;
/** Number of attempts of discord.js for one request. */
const ATTEMPTS_OF_ONE = 4;

/** A clock for the local Discord and the code under test, on which pauses end at once. */
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

  it('takes no answer to another message for it, although both say the same', async () => {
    const deaf = await city.login({ intents: ['Guilds'] });
    const there = textChannel(deaf, city.general.id);
    const [one, other] = [city.alice.say(city.general, '!word'), city.alice.say(city.general, '!word')];
    await there.send({ content: 'hello', reply: { messageReference: one.id } });
    city.discord.faults.rest.fail(503, { ...POST, times: ATTEMPTS_OF_ONE });
    const messageReference = await there.messages.fetch(other.id);
    await sendOnce(there, { content: 'hello', reply: { messageReference } }, 'a', { clock, pausesMs: [200_000] });
    const answered = city.general.messages.flatMap(({ reference }) => reference?.messageId ?? []);
    expect(answered).to.deep.equal([one.id, other.id]);
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

describe('sending a text of several messages', () => {
  const PARTS = ['yes', 'and', 'yes'].map((content) => ({ content }));
  let city: NightCity;
  let client: Client<true>;
  let clock: ReturnType<typeof hastyClock>;
  const channel = () => textChannel(client, city.general.id);
  const said = () => city.general.messages.map(({ content }) => content);

  beforeEach(async () => {
    clock = hastyClock();
    city = await nightCity({ clock });
    client = await city.login();
  });
  afterEach(() => city.close());

  it('sends them in order, the first as a reply, and pings no one unless it is said whom', async () => {
    const asked = city.alice.say(city.general, 'well?');
    const parts = [{ content: `yes ${city.alice}` }, { content: 'and' }];
    const sent = await sendText(channel(), parts, 'a', { clock, replyTo: asked.id });
    const [, first, second] = city.general.messages;
    expect(sent.map(({ id }) => id)).to.deep.equal([first?.id, second?.id]);
    expect([first?.replyTo, second?.replyTo]).to.deep.equal([asked, undefined]);
    expect(first?.mentions.users).to.deep.equal([]);
  });

  it('sends no part after its signal has aborted, and throws the reason of the signal', async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const onSent = ({ content }: { readonly content: string }) => {
      heard.push(content);
      if (heard.length === 2) stop.abort(new Error('not wanted any more'));
    };
    const { signal } = stop;
    const ended = await sendText(channel(), PARTS, 'a', { clock, signal, onSent }).catch(
      (error: Error) => error.message,
    );
    expect(ended).to.equal('not wanted any more');
    expect(heard).to.deep.equal(['yes', 'and']);
    expect(said()).to.deep.equal(['yes', 'and']);
  });

  it('stops waiting for Discord when its signal aborts, and throws what Discord failed with', async () => {
    const stop = new AbortController();
    city.discord.faults.rest.fail(503, { ...POST, times: Number.POSITIVE_INFINITY });
    const onRetry = () => stop.abort(new Error('not wanted any more'));
    const ended = await sendText(channel(), PARTS, 'a', { clock, signal: stop.signal, onRetry }).catch(
      (error: unknown) => error,
    );
    expect(isTransient(ended)).to.equal(true);
    expect(said()).to.deep.equal([]);
  });

  it('finds each part that an earlier process has sent, also two of the same words, and sends the rest', async () => {
    const { id: before } = await channel().send('before');
    const first = await channel().send('yes');
    await channel().send('and');
    clock.advance(3_600_000);
    const sent = await sendText(channel(), PARTS, 'a', { clock, sentAfter: before });
    expect(said()).to.deep.equal(['before', 'yes', 'and', 'yes']);
    expect(sent.map(({ id }) => id)).to.deep.equal(city.general.messages.slice(1).map(({ id }) => id));
    expect(sent[0]?.id).to.equal(first.id);
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

describe('a text for Discord', () => {
  const around = { head: '❓ <@1> ', foot: '\n-# step 1 · task abcde' };
  const file = ({ files = [] }: ReturnType<typeof textMessages>[number] = { content: '' }) =>
    files.map(({ attachment }) => attachment.toString());

  it('has its head in the first message and its foot in the last', () => {
    const contents = textMessages('word '.repeat(700).trim(), around).map(({ content }) => content);
    expect(contents).to.have.length(2);
    expect(contents[0]).to.match(/^❓ <@1> word/);
    expect(contents[1]).to.match(/word\n-# step 1 · task abcde$/);
  });

  it('keeps head and foot in the message when it becomes a file', () => {
    for (const limits of [
      { messages: 8, characters: 3_000 },
      { messages: 1, characters: 12_000 },
    ]) {
      const text = 'word '.repeat(700);
      const [message, ...others] = textMessages(text, { ...around, limits });
      expect(others).to.deep.equal([]);
      expect(message?.content).to.equal(
        '❓ <@1> This is too long for messages (3,500 characters): all of it is in the file.\n-# step 1 · task abcde',
      );
      expect(file(message)).to.deep.equal([text]);
    }
  });
});
