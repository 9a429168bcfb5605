import { expect } from 'chai';
import { plan, result, speak, think, told, usePersonaHost } from './harness.js';

const OPENING = 'The bar opens at eight on Fridays, and at nine on other days.';

describe('persona: asked the same again', () => {
  const open = usePersonaHost();
  it('answers the second member who asks the same in the same words', async () => {
    await using harness = await open([plan([speak(OPENING)]), plan([speak(OPENING)])]);
    expect(await harness.hears('When does the bar open?', harness.alice)).to.deep.equal([OPENING]);
    expect(await harness.hears('When does the bar open?', harness.bob)).to.deep.equal([OPENING]);
    expect(told(harness.events)).to.not.include('repetition_stopped');
  });

  it('says it in another way to the member who asks the same again', async () => {
    await using harness = await open([
      plan([speak(OPENING)]),
      plan([speak(OPENING)]),
      result({ message: 'Fridays at eight, as I said.' }),
    ]);
    await harness.hears('When does the bar open?');
    expect(await harness.hears('When does the bar open?')).to.deep.equal(['Fridays at eight, as I said.']);
    expect(JSON.stringify(harness.llm.requests.at(-1)?.messages)).to.include('that repeats what I have just said');
    expect(told(harness.events)).to.include('reworded').and.not.include('repetition_stopped');
  });

  it('says the same to the member who asked to hear it again', async () => {
    const again = { ...speak(OPENING), result: { message: OPENING, again: true } };
    await using harness = await open([plan([speak(OPENING)]), plan([again])]);
    await harness.hears('When does the bar open?');
    expect(await harness.hears('Wie bitte?')).to.deep.equal([OPENING]);
  });

  it('says that it has said it, with a link, when it finds no other words', async () => {
    await using harness = await open([plan([speak(OPENING)]), plan([speak(OPENING)]), result({ message: OPENING })]);
    await harness.hears('When does the bar open?');
    const answer = harness.general.messages.at(-1);
    const [word, ...others] = await harness.hears('When does the bar open?');
    expect(others).to.deep.equal([]);
    expect(word)
      .to.match(/I have just told you that/)
      .and.include(answer?.id);
    expect(told(harness.events)).to.include('repetition_stopped');
  });

  it('answers in the same words when the last time was long ago', async () => {
    await using harness = await open([plan([speak(OPENING)]), plan([speak(OPENING)])]);
    await harness.hears('When does the bar open?');
    await harness.advance(11 * 60_000);
    expect(await harness.hears('When does the bar open?')).to.deep.equal([OPENING]);
  });

  it('still answers when its thoughts go round in circles', async () => {
    const same = { ...think('The bar …'), context: 'When the bar opens' };
    await using harness = await open([plan([same, think('Hm.'), same, speak(OPENING)])]);
    expect(await harness.hears('When does the bar open?')).to.deep.equal([OPENING]);
    expect(told(harness.events)).to.include('repetition_stopped');
  });
});
