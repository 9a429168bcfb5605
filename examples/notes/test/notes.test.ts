import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import plugin from '../src/index.js';

describe('notes', () => {
  it('notes something when the member has confirmed it', async () => {
    await using host = await createTestHost({ plugins: ['ai', 'chat', 'llm', 'confirm', plugin] });
    host.alice.say(host.general, '!ai note that the door sticks');
    await host.settled();
    const card = host.general.messages.at(-1);
    if (card === undefined) throw new Error('There is no card.');
    expect(card.content).to.include("I'll note: the door sticks");
    host.alice.react(card, '👍');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.include('✓ Note 1: the door sticks');
  });
});
