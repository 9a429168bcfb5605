import { PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type AgentBot, letIn, shareAgentBot } from '../harness.js';

const HOUR_MS = 60 * 60_000;

describe('relay: a digest', () => {
  let bot: AgentBot;
  const open = shareAgentBot({ script: (turn) => turn.say('Read.') });
  beforeEach(async () => {
    bot = await open();
    await letIn(bot);
    await bot.admin('!relay mode digest');
  });
  afterEach(() => bot[Symbol.asyncDispose]());
  const later = async (ms: number) => {
    await bot.advance(ms);
    await bot.quiet();
  };

  it('shows the latest messages, also after a great many', async () => {
    await bot.admin('!relay config digestMessages 1000');
    for (let n = 1; n <= 130; n += 1) bot.alice.say(bot.general, `said ${n}.`);
    await bot.quiet();
    await later(HOUR_MS + 60_000);
    expect(bot.prompts).to.have.length(1);
    expect(bot.prompts[0]).to.include('said 130.').and.include('100 messages or more');
  });

  it('is not sent when everything was deleted again', async () => {
    const said = await bot.says(bot.alice, 'Never mind');
    bot.alice.delete(said);
    await later(HOUR_MS + 60_000);
    expect(bot.prompts).to.deep.equal([]);
  });

  it('is sent later when Discord could not be read', async () => {
    await bot.says(bot.alice, 'Important');
    bot.discord.faults.rest.fail(403, { method: 'GET', route: '/channels/:channelId/messages' });
    await later(HOUR_MS + 60_000);
    expect(bot.prompts).to.deep.equal([]);
    await later(60_000);
    expect(bot.prompts.join()).to.include('Important');
  });

  it('names no member who deleted their data', async () => {
    await bot.admin('!relay pause');
    await bot.says(bot.alice, 'Stays');
    await bot.says(bot.bob, 'Goes');
    await later(HOUR_MS + 60_000);
    const store = bot.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(bot.bob.id))).to.include('Goes');
    await store.forget(bot.bob.id);
    expect(JSON.stringify(await store.export(bot.bob.id))).to.not.include('Goes');
    await bot.admin('!relay resume');
    await bot.quiet();
    expect(bot.prompts.join()).to.include('Stays').and.not.include('Goes').and.not.include(bot.bob.id);
  });
});
