import { expect } from 'chai';
import { createShelf, decide } from '../chat/harness.js';
import { openPersonaHarness, plan, result, speak, usePersonaHost } from './harness.js';

describe('persona: what it thinks', () => {
  const open = usePersonaHost();
  it('is kept for the turn: words that were planned before a thought are written anew, with the thought in mind', async () => {
    await using harness = await open([
      plan([{ action: 'THINK', context: 'Does she mean it?' }, speak('How nice!')]),
      result({ thought: 'She is being ironic.' }),
      result({ message: 'You do not mean that, do you?' }),
    ]);
    expect(await harness.hears('What lovely rain')).to.deep.equal(['You do not mean that, do you?']);
    expect(JSON.stringify(harness.llm.requests.at(-1)?.messages)).to.include('She is being ironic.');
  });

  it('is kept for the turn: when a tool that had to wait has run, the persona knows why it wanted it', async () => {
    const shelf = createShelf();
    await using harness = await openPersonaHarness(
      [
        plan([
          { action: 'THINK', result: { thought: 'The book is a present for her mother.' } },
          { action: 'USE_TOOL', result: { tool: 'take', arguments: { thing: 'book' } } },
        ]),
        plan([speak('There it is. Shall I wrap it?')]),
      ],
      { more: [shelf.plugin, 'confirm'] },
    );
    await harness.hears('Take the book');
    await decide(harness, '👍');
    expect(shelf.taken).to.deep.equal(['book']);
    expect(JSON.stringify(harness.llm.requests.at(-1)?.messages)).to.include('The book is a present for her mother.');
  });
});
