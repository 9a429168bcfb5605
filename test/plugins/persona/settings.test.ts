import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { type PlannedStep, plan, result, set, setStage, think, told } from './stage.js';

describe('persona: settings of a run', () => {
  const goal = (text: string): PlannedStep => ({ action: 'ADD_GOAL', context: text, result: { goal: text } });

  it('maxActions: no more is carried out', async () => {
    await using stage = await setStage([plan([goal('Sing'), goal('Dance'), think('Hm.')])]);
    await set(stage, 'maxActions', 2);
    await stage.hears('Hello');
    expect(told(stage.events).filter((event) => event.startsWith('finished '))).to.have.length(2);
    expect(told(stage.events)).to.include('bound_reached').and.not.include('thought: Hm.');
  });

  it('maxCalls: the model is asked no more', async () => {
    await using stage = await setStage([
      plan([{ action: 'THINK' }, { action: 'UPDATE_MOOD' }]),
      result({ thought: 'Hm.' }),
    ]);
    await set(stage, 'maxCalls', 2);
    await stage.hears('Hello');
    expect(stage.llm.requests).to.have.length(2);
    expect(told(stage.events)).to.include('bound_reached');
  });

  it('maxExtensions: it is not asked whether to go on', async () => {
    await using stage = await setStage([plan([think('Hm.')], { canExtend: true })]);
    await set(stage, 'maxExtensions', 0);
    await stage.hears('Hello');
    expect(stage.llm.requests).to.have.length(1);
  });

  it('maxReplyTokens and model: what is asked of which model', async () => {
    using folder = makeFolder({ 'shared.yaml': 'allowedModels: [another-*]\n' });
    await using stage = await setStage([plan([])], { configDir: folder.path });
    await set(stage, 'maxReplyTokens', 321);
    await set(stage, 'model', 'another-model');
    await stage.hears('Hello');
    expect(stage.llm.requests[0]).to.deep.include({ maxTokens: 321, model: 'another-model' });
  });
});
