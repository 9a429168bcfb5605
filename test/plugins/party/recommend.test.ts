import { fail, type ModelStep, type ScriptedLlm, say } from '@cinnabar/local-models';
import { expect } from 'chai';
import { createModelPerTest } from '../../support/model-per-test.js';
import { openTable, type Table, useTable } from './table.js';

type Line = readonly [item: string, from: string, character: string, amount?: number];

/** The model's answer: each item, its quote, and the recipients. */
const answer = (...lines: readonly Line[]) =>
  say(
    JSON.stringify({
      items: lines.map(([name, from, , amount = 1], index) => ({ id: index + 1, name, from, number: '', amount })),
      not_loot: [],
      assignments: lines.map(([, , character], index) => ({ item_id: index + 1, character, reason: 'It *fits*.' })),
    }),
  );

/** A party of V, who prefers assault rifles, and Jackie. */
async function partyAt(table: Table, llm: ScriptedLlm) {
  await table.call('add_party_character', { name: 'V', role: 'Solo', gear_preferences: ['Assault Rifles'] });
  await table.call('add_party_character', { name: 'Jackie', role: 'Solo' });
  const recommend = (loot_description: string, excluded_characters: string[] = []) =>
    table.call('recommend_gear', { loot_description, excluded_characters });
  /** The messages of all requests to the model. */
  const told = () => JSON.stringify(llm.requests.map(({ messages }) => messages));
  return { llm, recommend, told, [Symbol.asyncDispose]: () => table[Symbol.asyncDispose]() };
}

const DOES_NOT_ADD_UP = /^I could not work out who should get what: .* did not add up/;

describe('gear recommendations', () => {
  const models = createModelPerTest();
  const open = useTable([models.plugin]);
  /** A party, and a model with these answers. */
  const openParty = async (...steps: readonly ModelStep[]) => partyAt(await open(), models.next(steps));

  it('list who gets what and why, and who gets nothing', async () => {
    await using party = await openParty(
      answer(['Assault Rifle', 'Assault Rifle', 'V'], ['SMG', '2 SMGs', 'v'], ['SMG', '2 SMGs', 'V']),
    );
    expect(await party.recommend('Assault Rifle, 2 SMGs')).to.equal(
      [
        '🎒 Gear Recommendations',
        '• **V** (Solo):',
        '  - Assault Rifle – It \\*fits\\*.',
        '  - SMG – It \\*fits\\*.',
        '  - SMG – It \\*fits\\*.',
        '• **Jackie** (Solo): nothing this time',
      ].join('\n'),
    );
  });

  it('split what can be split', async () => {
    await using party = await openParty(
      answer(['eddies', '900 eddies', 'V', 500], ['eddies', '900 eddies', 'Jackie', 400]),
    );
    expect(await party.recommend('900 eddies'))
      .to.include('  - 500 × eddies – It')
      .and.to.include('  - 400 × eddies – It');
  });

  it('are asked for over the actual members minus the excluded; unknown exclusions are said', async () => {
    await using party = await openParty(answer(['Rifle', 'a rifle', 'V']));
    const text = await party.recommend('a rifle', ['jackie', '**Rogue**']);
    expect(party.told()).to.include('Assault Rifles').and.not.to.include('Jackie');
    expect(text).to.include('\nExcluded: Jackie\n').and.to.include('Not in the party, so not excluded: \\*\\*Rogue');
  });

  it('go back to the model once, with what was wrong', async () => {
    await using party = await openParty(
      answer(['Rifle', 'a rifle', 'Adam Smasher'], ['Katana', 'a katana', 'V']),
      answer(['Rifle', 'a rifle', 'Jackie']),
    );
    expect(await party.recommend('a rifle')).to.include('**Jackie** (Solo):\n  - Rifle');
    expect(party.llm.requests).to.have.length(2);
    expect(party.told()).to.include('Adam Smasher').and.to.include('a katana');
    expect(JSON.stringify(party.llm.requests[1]?.messages.at(-1))).to.include('is not one of the characters');
  });

  it('are not shown when the second answer is wrong as well, or no answer is JSON', async () => {
    const wrong = answer(['Rifle', 'a rifle', 'Adam Smasher']);
    await using party = await openParty(wrong, wrong, say('V gets it.'), say('{}'));
    expect(await party.recommend('a rifle')).to.match(DOES_NOT_ADD_UP);
    expect(await party.recommend('a rifle')).to.match(DOES_NOT_ADD_UP);
    expect(party.llm.requests).to.have.length(4);
  });

  it('never give an excluded character anything', async () => {
    const wrong = answer(['Rifle', 'a rifle', 'Jackie']);
    await using party = await openParty(wrong, wrong);
    expect(await party.recommend('a rifle', ['Jackie'])).to.match(DOES_NOT_ADD_UP);
  });

  it('say so when the model fails, is busy, or is not there', async () => {
    await using party = await openParty(fail(503), fail(429));
    expect(await party.recommend('a rifle')).to.equal(
      'I could not work out who should get what: The language model cannot be reached at the moment.',
    );
    expect(await party.recommend('a rifle')).to.include('The language model is busy');
    await using alone = await openTable();
    await alone.call('add_party_character', { name: 'V', role: 'Solo' });
    expect(await alone.call('recommend_gear', { loot_description: 'a rifle' })).to.include('none is running');
    await using offline = await openTable(['llm']);
    await offline.call('add_party_character', { name: 'V', role: 'Solo' });
    expect(await offline.call('recommend_gear', { loot_description: 'a rifle' })).to.include('the offline model');
  });

  it('need someone who can receive something, and loot', async () => {
    await using party = await openParty();
    expect(await party.recommend('a rifle', ['V', 'Jackie'])).to.match(/^Everyone in the party is excluded/);
    expect(await party.recommend('  ')).to.equal('Tell me what the loot is.');
    await using empty = await openTable();
    expect(await empty.call('recommend_gear', { loot_description: 'a rifle' })).to.match(
      /^There is nobody in the party/,
    );
    expect(party.llm.requests).to.deep.equal([]);
  });
});
