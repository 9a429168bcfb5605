import { Ledger } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createShelf, decide, letLook } from '../chat/harness.js';
import { openPersonaHarness, plan, result, set, speak, told } from './harness.js';

describe('persona: tools of the host', () => {
  const use = (tool: string, args: Readonly<Record<string, unknown>> = {}) => ({
    action: 'USE_TOOL',
    context: 'she asked for it',
    result: { tool, arguments: args },
  });
  const text = (request: { messages: readonly { content: readonly object[] }[] } | undefined) =>
    JSON.stringify(request?.messages);

  it('are used for the requester, and the result is mentioned afterwards, not before', async () => {
    await using harness = await openPersonaHarness(
      [
        plan([use('look', { shelf: 'A' }), speak('There is probably a lamp on it.')]),
        result({ message: 'There is a book on A.' }),
      ],
      { more: [createShelf().plugin, 'confirm'] },
    );
    await letLook(harness);
    expect(await harness.hears('What is on shelf A?')).to.deep.equal(['There is a book on A.']);
    expect(told(harness.events)).to.deep.equal([
      'started',
      'planned',
      'started USE_TOOL',
      'finished USE_TOOL',
      'said: There is a book on A.',
      'finished',
    ]);
    expect(text(harness.llm.requests[1])).to.include('On A: a book');
    const [entry] = await harness.resolve(Ledger).recent({ limit: 1 });
    expect(entry).to.deep.include({ tool: 'look', origin: 'persona', state: 'done' });
    expect(entry?.actor.userId).to.equal(harness.alice.id);
  });

  it('are those that the requester may use: no other is listed, none runs', async () => {
    await using harness = await openPersonaHarness([plan([use('close_library')]), plan([])], {
      more: [createShelf().plugin, 'confirm'],
    });
    await harness.hears('Close the library');
    const { system = '' } = harness.llm.requests[0] ?? {};
    expect(system).to.include('"tool":"look","description":"Look at a shelf').and.not.include('close_library');
    expect(told(harness.events)).to.include('failed USE_TOOL');
    expect(await harness.resolve(Ledger).recent({ limit: 1 })).to.deep.equal([]);
    await harness.hears('And now?', harness.you);
    expect(harness.llm.requests[1]?.system).to.include('close_library');
  });

  it('that have to be confirmed have not run yet; once they have, the persona hears of it', async () => {
    const shelf = createShelf();
    await using harness = await openPersonaHarness(
      [
        plan([use('take', { thing: 'book' }), speak('I took it!')]),
        result({ message: 'I will, once you confirm.' }),
        plan([speak('Here is your book.')]),
      ],
      { more: [shelf.plugin, 'confirm'] },
    );
    await harness.hears('Take the book');
    expect(shelf.taken).to.deep.equal([]);
    expect(text(harness.llm.requests[1])).to.match(/not run yet/i);
    const before = harness.events.length;
    await decide(harness, '👍');
    expect(shelf.taken).to.deep.equal(['book']);
    expect(told(harness.events.slice(before))).to.deep.equal([
      'started',
      'planned',
      'said: Here is your book.',
      'finished',
    ]);
    const asked = text(harness.llm.requests[2]);
    expect(asked).to.include('a tool call that had to wait has ended').and.include('book taken');
    expect(harness.llm.requests[2]?.system, 'a result leads to no other call').to.not.include('- USE_TOOL');
  });

  it('that were cancelled are left at that, but later it is known how they stand', async () => {
    const shelf = createShelf();
    await using harness = await openPersonaHarness([plan([use('take', { thing: 'book' })]), plan([])], {
      more: [shelf.plugin, 'confirm'],
    });
    await harness.hears('Take the book');
    await decide(harness, '👎');
    expect(harness.llm.requests).to.have.length(1);
    await harness.hears('Well?');
    expect(text(harness.llm.requests[1])).to.include('did not run');
    expect(shelf.taken).to.deep.equal([]);
  });

  it('do not make it think again where the guild does not want that', async () => {
    const shelf = createShelf();
    await using harness = await openPersonaHarness([plan([use('take', { thing: 'book' })])], {
      more: [shelf.plugin, 'confirm'],
    });
    await set(harness, 'toolResults', false);
    await harness.hears('Take the book');
    await decide(harness, '👍');
    expect(shelf.taken).to.deep.equal(['book']);
    expect(harness.llm.requests).to.have.length(1);
  });
});
