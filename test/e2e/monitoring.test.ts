import { fail, hang, say, startOpenAiStandIn } from '@cinnabar/local-models';
import { Llm } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../support/codes.js';
import { readMetrics } from '../support/monitoring.js';
import { startWholeBot } from './support/whole-bot.js';

const REQUEST = {
  charge: { actor: { userId: '1', guildId: null, channelId: '2' }, responder: 'test', trigger: 'I was tested' },
  self: 'Cinnabar',
  messages: [{ participant: 'Alice', content: [{ type: 'text', text: 'Hi' }] }],
} as const;

describe('monitoring of the whole bot', () => {
  it('shows turns that wait, tasks and the queue of the relay, and no id of Discord', async function () {
    // It starts the whole bot, which may exceed the default limit on a busy machine.
    this.timeout(60_000);
    await using openai = await startOpenAiStandIn({ steps: [hang(say('Hello.')), say('Hello again.')] });
    const env = { OPENAI_BASE_URL: openai.baseUrl, OPENAI_MODEL: 'gpt-5-mini' };
    await using bot = await startWholeBot({ env, monitoring: true });
    bot.alice.say(bot.general, '!ai Hi');
    bot.bob.say(bot.general, '!ai Hi');
    await openai.hanging();
    const during = await readMetrics(bot.monitoringUrl);
    expect(during.value('cinnabar_ai_turns_answering')).to.equal(1);
    expect(during.value('cinnabar_handlers_in_flight', { plugin: 'ai' })).to.be.at.least(1);
    openai.release();
    await bot.settled();

    const after = await readMetrics(bot.monitoringUrl);
    expect(after.value('cinnabar_ai_turns_answering')).to.equal(0);
    expect(after.value('cinnabar_ai_turns_waiting')).to.equal(0);
    expect(after.value('cinnabar_relay_queue_events')).to.equal(0);
    expect(after.names).to.include('cinnabar_tasks_unfinished').and.include('cinnabar_relay_breaker_open');
    expect(after.value('cinnabar_commands_total', { command: 'ai', surface: 'prefix', outcome: 'done' })).to.equal(2);
    expect(after.value('cinnabar_llm_requests_total', { model: 'gpt-5-mini', outcome: 'done' })).to.equal(2);
    expect(after.value('cinnabar_llm_tokens_total', { model: 'gpt-5-mini', kind: 'input' })).to.be.greaterThan(0);
    expect(after.value('cinnabar_llm_cost_usd_total', { model: 'gpt-5-mini' })).to.be.greaterThan(0);
    expect(after.text).to.not.match(/="[^"]*\d{17,22}[^"]*"/);
  });

  it('shows a model that rests, of which the owner gets a message', async () => {
    await using openai = await startOpenAiStandIn({ script: () => fail(503) });
    const env = { OPENAI_BASE_URL: openai.baseUrl, OPENAI_MODEL: 'gpt-5-mini' };
    await using bot = await startWholeBot({ env, monitoring: true, settings: { llm: { retries: 0 } } });
    for (let time = 0; time < 5; time++) {
      await failure('CINNABAR_LLM_UNAVAILABLE', () => bot.resolve(Llm).complete(REQUEST));
    }
    await failure('CINNABAR_LLM_PAUSED', () => bot.resolve(Llm).complete(REQUEST));
    const metrics = await readMetrics(bot.monitoringUrl);
    const outcome = (name: string) =>
      metrics.value('cinnabar_llm_requests_total', { model: 'gpt-5-mini', outcome: name });
    expect([outcome('unavailable'), outcome('paused')]).to.deep.equal([5, 1]);
    expect(metrics.value('cinnabar_llm_breaker_open', { vendor: 'openai', model: 'gpt-5-mini' })).to.equal(1);
    await bot.advance(5_000);
    const [notice] = bot.you.openDm(bot.application).messages;
    expect(notice?.content).to.match(/^⚠️ The model gpt-5-mini of openai failed five times in a row, .*`!llm status`/);
  });
});
