import { expect } from 'chai';
import { plan, result, setStage, speak, think, told } from './stage.js';

const OPENING = 'The bar opens at eight on Fridays, and at nine on other days.';

describe('persona: asked the same again', () => {
  it('answers the second member who asks the same in the same words', async () => {
    await using stage = await setStage([plan([speak(OPENING)]), plan([speak(OPENING)])]);
    expect(await stage.hears('When does the bar open?', stage.alice)).to.deep.equal([OPENING]);
    expect(await stage.hears('When does the bar open?', stage.bob)).to.deep.equal([OPENING]);
    expect(told(stage.events)).to.not.include('repetition_stopped');
  });

  it('says it in another way to the member who asks the same again', async () => {
    await using stage = await setStage([
      plan([speak(OPENING)]),
      plan([speak(OPENING)]),
      result({ message: 'Fridays at eight, as I said.' }),
    ]);
    await stage.hears('When does the bar open?');
    expect(await stage.hears('When does the bar open?')).to.deep.equal(['Fridays at eight, as I said.']);
    expect(JSON.stringify(stage.llm.requests.at(-1)?.messages)).to.include('that repeats what I have just said');
    expect(told(stage.events)).to.include('reworded').and.not.include('repetition_stopped');
  });

  it('says the same to the member who asked to hear it again', async () => {
    const again = { ...speak(OPENING), result: { message: OPENING, again: true } };
    await using stage = await setStage([plan([speak(OPENING)]), plan([again])]);
    await stage.hears('When does the bar open?');
    expect(await stage.hears('Wie bitte?')).to.deep.equal([OPENING]);
  });

  it('says that it has said it, with a link, when it finds no other words', async () => {
    await using stage = await setStage([plan([speak(OPENING)]), plan([speak(OPENING)]), result({ message: OPENING })]);
    await stage.hears('When does the bar open?');
    const answer = stage.general.messages.at(-1);
    const [word, ...others] = await stage.hears('When does the bar open?');
    expect(others).to.deep.equal([]);
    expect(word)
      .to.match(/I have just told you that/)
      .and.include(answer?.id);
    expect(told(stage.events)).to.include('repetition_stopped');
  });

  it('answers in the same words when the last time was long ago', async () => {
    await using stage = await setStage([plan([speak(OPENING)]), plan([speak(OPENING)])]);
    await stage.hears('When does the bar open?');
    await stage.advance(11 * 60_000);
    expect(await stage.hears('When does the bar open?')).to.deep.equal([OPENING]);
  });

  it('still answers when its thoughts go round in circles', async () => {
    const same = { ...think('The bar …'), context: 'When the bar opens' };
    await using stage = await setStage([plan([same, think('Hm.'), same, speak(OPENING)])]);
    expect(await stage.hears('When does the bar open?')).to.deep.equal([OPENING]);
    expect(told(stage.events)).to.include('repetition_stopped');
  });
});
