import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { openPersonaHarness, type PlannedStep, plan, result, set, think, told, usePersonaHost } from './harness.js';

describe('persona: settings of a run', () => {
  const open = usePersonaHost();
  const goal = (text: string): PlannedStep => ({ action: 'ADD_GOAL', context: text, result: { goal: text } });

  it('maxActions: no more is carried out', async () => {
    await using harness = await open([plan([goal('Sing'), goal('Dance'), think('Hm.')])]);
    await set(harness, 'maxActions', 2);
    await harness.hears('Hello');
    expect(told(harness.events).filter((event) => event.startsWith('finished '))).to.have.length(2);
    expect(told(harness.events)).to.include('bound_reached').and.not.include('thought: Hm.');
  });

  it('maxCalls: the model is asked no more', async () => {
    await using harness = await open([
      plan([{ action: 'THINK' }, { action: 'UPDATE_MOOD' }]),
      result({ thought: 'Hm.' }),
    ]);
    await set(harness, 'maxCalls', 2);
    await harness.hears('Hello');
    expect(harness.llm.requests).to.have.length(2);
    expect(told(harness.events)).to.include('bound_reached');
  });

  it('maxExtensions: it is not asked whether to go on', async () => {
    await using harness = await open([plan([think('Hm.')], { canExtend: true })]);
    await set(harness, 'maxExtensions', 0);
    await harness.hears('Hello');
    expect(harness.llm.requests).to.have.length(1);
  });

  it('maxReplyTokens and model: what is asked of which model', async () => {
    using folder = makeFolder({ 'shared.yaml': 'allowedModels: [another-*]\n' });
    await using harness = await openPersonaHarness([plan([])], { configDir: folder.path });
    await set(harness, 'maxReplyTokens', 321);
    await set(harness, 'model', 'another-model');
    await harness.hears('Hello');
    expect(harness.llm.requests[0]).to.deep.include({ maxTokens: 321, model: 'another-model' });
  });
});
