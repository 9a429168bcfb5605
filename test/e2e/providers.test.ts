import {
  callTool,
  callToolRaw,
  cutMidway,
  fail,
  hang,
  say,
  startAnthropicStandIn,
  startOpenAiStandIn,
} from '@cinnabar/local-models';
import { expect } from 'chai';
import { watchedClock } from '../support/watched-clock.js';
import { contents, startWholeBot } from './support/whole-bot.js';

const ROUTES = [
  { route: 'OpenAI Responses, streamed', provider: 'openai', api: 'responses', stream: true },
  { route: 'OpenAI Responses, whole', provider: 'openai', api: 'responses', stream: false },
  { route: 'OpenAI Chat Completions, streamed', provider: 'openai', api: 'chat', stream: true },
  { route: 'OpenAI Chat Completions, whole', provider: 'openai', api: 'chat', stream: false },
  { route: 'Anthropic, streamed', provider: 'anthropic', api: 'responses', stream: true },
  { route: 'Anthropic, whole', provider: 'anthropic', api: 'responses', stream: false },
] as const;

const KEY = 'sk-e2e-0123456789';
const RETRY_MS = 700;
const TIMEOUT_MS = 30_000;
const ADD = callTool('add_party_character', { name: 'V', role: 'Solo' });
const CARD =
  "📋 Confirmation Required\n\nI'll add V to your party:\n• Role: Solo\n• Gear Preferences: None\n\n👍 Confirm  👎 Cancel";

for (const { route, provider, api, stream } of ROUTES) {
  /** The whole bot, with a model behind the provider's real client. */
  const open = async () => {
    const start = provider === 'openai' ? startOpenAiStandIn : startAnthropicStandIn;
    const model = await start({ key: KEY });
    const clock = watchedClock();
    const prefix = provider.toUpperCase();
    const bot = await startWholeBot({
      clock,
      settings: { llm: { provider, api, stream, retries: 1, retryDelayMs: RETRY_MS, timeoutMs: TIMEOUT_MS } },
      env: { [`${prefix}_API_KEY`]: KEY, [`${prefix}_BASE_URL`]: model.baseUrl, [`${prefix}_MODEL`]: 'stand-in' },
    });
    return {
      bot,
      model,
      clock,
      /** The bot's answer after a retry or a time limit. */
      hearsAfter: (waitMs: number, text: string) =>
        bot.saidDuring(async () => {
          bot.alice.say(bot.general, text);
          await clock.armed(waitMs);
          clock.advance(waitMs);
        }),
      async [Symbol.asyncDispose]() {
        await bot[Symbol.asyncDispose]();
        await model[Symbol.asyncDispose]();
      },
    };
  };

  describe(`a conversation through ${route}`, () => {
    it('holds the call, runs it at 👍, keeps the result, and tells the model how it ended', async () => {
      await using talk = await open();
      const { bot, model } = talk;
      model.push(ADD, say('It waits for you.'), say('V is in.'), callTool('view_party_members'));

      const [card, ...others] = await bot.hears("!ai Add V to my party, he's a Solo");
      expect(card?.content).to.equal(CARD);
      expect(others).to.deep.equal([]);
      expect(model.requests[0]?.path).to.equal(
        provider === 'anthropic' ? '/v1/messages' : api === 'chat' ? '/v1/chat/completions' : '/v1/responses',
      );
      expect(JSON.stringify(model.requests[0]?.body).includes('"stream":true')).to.equal(stream);
      expect(model.requests[0]?.prompt.tools).to.include.members(['add_party_character', 'recommend_gear']);
      expect(model.requests[0]?.prompt.text).to.equal("alice: Add V to my party, he's a Solo");

      expect(contents(await bot.hears('!ai And?'))).to.deep.equal(['It waits for you.']);
      expect(JSON.stringify(model.requests[1]?.body)).to.include('Not run yet');

      if (card === undefined) throw new Error('there is no card');
      const ran = await bot.saidDuring(() => bot.alice.react(card, '👍'));
      expect(contents(ran)).to.deep.equal([`✓ V has been added to your party!\n-# for ${bot.alice}`]);

      expect(contents(await bot.hears('!ai Is he in now?'))).to.deep.equal(['V is in.']);
      const told = JSON.stringify(model.requests[2]?.body);
      expect(told).to.include('V has been added to your party!').and.not.to.include('Not run yet');

      const [view] = await bot.hears('!ai Who is in my party?');
      if (view === undefined) throw new Error('there is no card');
      expect(contents(await bot.saidDuring(() => bot.alice.react(view, '👍'))).join()).to.match(/V.*Solo/);
    });

    it('goes on after what goes wrong on the way, and says so when it cannot', async () => {
      await using talk = await open();
      const { bot, model, clock, hearsAfter } = talk;
      model.push(fail(429, { retryAfterSeconds: 3 }), ADD);
      expect(contents(await hearsAfter(3_000, '!ai Add V'))).to.deep.equal([CARD]);

      model.push(fail(500), say('After a 500.'));
      expect(contents(await hearsAfter(RETRY_MS, '!ai Hello'))).to.deep.equal(['After a 500.']);

      model.push(cutMidway(say('This half must not be seen.')), say('After the cut.'));
      expect(contents(await hearsAfter(RETRY_MS, '!ai Hello'))).to.deep.equal(['After the cut.']);

      clock.advance(60_000);
      model.push(callToolRaw('add_party_character', '{"name": "V", "role": '), say('Which role?'));
      expect(contents(await bot.hears('!ai Add V again'))).to.deep.equal([
        "I couldn't process that request. Please try again.",
      ]);
      expect(contents(await bot.hears('!ai Well?'))).to.deep.equal(['Which role?']);

      model.push(hang(), say('After the silence.'));
      const late = await bot.saidDuring(async () => {
        bot.alice.say(bot.general, '!ai Are you there?');
        await model.hanging();
        clock.advance(TIMEOUT_MS);
        await clock.armed(RETRY_MS);
        clock.advance(RETRY_MS);
      });
      const kept = late.filter(({ deleted }) => !deleted);
      expect(contents(kept), 'without the word that it takes long').to.deep.equal(['After the silence.']);

      clock.advance(60_000);
      model.push(fail(503), fail(503), say('Back again.'));
      expect(contents(await hearsAfter(RETRY_MS, '!ai Hello?'))).to.deep.equal([
        'The language model cannot be reached at the moment.',
      ]);
      expect(contents(await bot.hears('!ai Hello?'))).to.deep.equal(['Back again.']);

      await model[Symbol.asyncDispose]();
      expect(contents(await hearsAfter(RETRY_MS, '!ai Anybody?'))).to.deep.equal([
        'The language model cannot be reached at the moment.',
      ]);
    });
  });
}
