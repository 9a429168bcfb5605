import { expect } from 'chai';
import { PLACE, sendPrompt, startLetta } from './harness.js';

const HIM = { ...PLACE, userId: '200' };

describe('relay: what is kept of prompts', () => {
  it('is exported and forgotten person by person, and never sent again for it', async () => {
    await using world = await startLetta({ script: ({ prompt }) => `About ${prompt}` });
    const agent = world.letta.addAgent();
    await sendPrompt(world.agents, agent.id, 'her', { key: 'batch-1' });
    await sendPrompt(world.agents, agent.id, 'him', { key: 'batch-2', place: HIM });
    expect(JSON.stringify(await world.keptOf('100')))
      .to.contain('About her')
      .and.not.contain('About him');
    await world.forget('100');
    expect(await world.keptOf('100')).to.deep.equal([]);
    expect(await world.keptOf('200')).to.have.length(1);
    const again = await sendPrompt(world.boot(), agent.id, 'her', { key: 'batch-1' });
    expect(again).to.include({ status: 'done' }).and.have.property('texts').that.deep.equals([]);
    expect(world.letta.runs).to.have.length(2);
  });

  it('is gone after a day, also while the bot runs on', async () => {
    await using world = await startLetta();
    const agent = world.letta.addAgent();
    await sendPrompt(world.agents, agent.id, 'Hello');
    world.clock.advance(23 * 60 * 60_000);
    await sendPrompt(world.agents, agent.id, 'Hello', { key: 'batch-2' });
    expect(await world.keptOf('100')).to.have.length(2);
    world.clock.advance(2 * 60 * 60_000);
    await sendPrompt(world.agents, agent.id, 'Hello', { key: 'batch-3' });
    expect(await world.keptOf('100')).to.have.length(2);
    world.clock.advance(30 * 60 * 60_000);
    const next = world.boot();
    await next.recover();
    expect(await world.keptOf('100')).to.deep.equal([]);
  });
});
