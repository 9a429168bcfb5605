import { expect } from 'chai';
import { openPersonaHarness, plan, speak } from './harness.js';

describe('persona in German', () => {
  it('is shaped, shown, traced, undone and reset by an admin, and forgets for a member', async () => {
    const remember = { action: 'ADD_MEMORY', result: { text: 'alice mag Tee', about: 'alice', importance: 5 } };
    await using harness = await openPersonaHarness([plan([remember, speak('Tee also.')])]);
    const { alice, general, you } = harness;
    const command = async (text: string, from = you) => {
      const before = general.messages.length;
      from.say(general, text);
      await harness.settled();
      return general.messages
        .slice(before + 1)
        .map(({ content }) => content)
        .join('\n');
    };
    for (const one of [you, alice]) await command('!language me de', one);

    expect(await command('!persona show'))
      .to.include('**Stimmung** ruhig (3 von 10)')
      .and.include('Ein freundlicher');
    expect(await command('!persona create Judy Eine Technikerin.')).to.equal(
      '**Judy** ist jetzt hier. Mit `!ai use persona` antwortet sie.',
    );
    expect(await command('!persona show')).to.include('**Judy** (überall auf diesem Server, Version 1)');
    expect(await command('!persona goals remove Kaffee')).to.equal('Ein solches Ziel gibt es nicht.');
    expect(await command('!persona edit appearance Grüne Haare')).to.equal('Ihr Aussehen ist jetzt: Grüne Haare');
    expect(await command('!persona undo')).to.equal('Zurückgenommen:\n• Aussehen: Grüne Haare');

    await harness.hears('Ich mag Tee', alice);
    expect(harness.llm.requests[0]?.system, 'prompts stay English').to.match(/^I am "Judy"\./);
    expect(await command('!persona trace'))
      .to.include('Ich wurde angesprochen')
      .and.include('2 Aktionen, 1 Aufruf');
    expect(await command('!persona memories forget nichts', alice)).to.equal(
      'Von dir gibt es keine Erinnerung mit dieser ID.',
    );
    expect(await command('!persona memories forget all', alice)).to.equal('Endgültig vergessen.');
    expect(await command('!persona reset conversation')).to.include('was in diesem Kanal gesagt wurde');
  });
});
