import { type CallCard, type ToolPresentation, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { alice, openToolHarness, recordingTool } from './harness.js';

const input = z.object({ name: z.string(), role: z.string(), gear_preferences: z.array(z.string()).default([]) });
type Presentation = ToolPresentation<Record<string, unknown>, unknown>;

/** The card that an interceptor receives for a call with these arguments. */
async function cardOf(given: Record<string, unknown>, present?: Presentation): Promise<CallCard> {
  const { service, load } = openToolHarness();
  const cards: CallCard[] = [];
  service.tool(load('party'), recordingTool([], { input, ...(present === undefined ? {} : { present }) }));
  service.intercept(load('watch'), {
    name: 'watch',
    order: 0,
    handle: (call, next) => {
      cards.push(call.card);
      return next();
    },
  });
  await service.invoke({ name: 'add_party_character', arguments: given, actor: alice, origin: 'chat' });
  const [card] = cards;
  if (card === undefined) throw new Error('there was no card');
  return card;
}

const v = { role: 'Solo', name: 'V' };
const sentence: NonNullable<Presentation['sentence']> = ({ name }) => `I'll add ${name} to your party`;

describe('the card of a call', () => {
  it('by default shows every argument in full, in declared order, with labels made from the names', async () => {
    expect(await cardOf(v)).to.deep.equal({
      sentence: `I'll use "add party character"`,
      action: 'Add party character',
      terminal: { program: 'PARTY', operation: 'ADD_PARTY_CHARACTER', record: 'ARGUMENTS' },
      fields: [
        { name: 'name', label: 'Name', value: 'V', said: false },
        { name: 'role', label: 'Role', value: 'Solo', said: false },
        { name: 'gear_preferences', label: 'Gear Preferences', value: [], said: false },
      ],
      arguments: { name: 'V', role: 'Solo', gear_preferences: [] },
      cancelled: 'Cancelled: nothing was done.',
    });
  });

  it("uses the tool's own words", async () => {
    const terminal = { program: 'PARTY_MANAGER', operation: 'ADD_CHARACTER', record: 'CHARACTER_DATA' };
    const card = await cardOf(v, {
      sentence,
      said: ['name'],
      action: 'Add character to party roster',
      terminal,
      labels: { gear_preferences: 'Gear' },
      cancelled: ({ name }) => `Cancelled adding ${name} to your party.`,
    });
    expect(card).to.deep.include({
      sentence: "I'll add V to your party",
      action: 'Add character to party roster',
      terminal,
      cancelled: 'Cancelled adding V to your party.',
    });
    expect(card.fields.map(({ label, said }) => [label, said])).to.deep.equal([
      ['Name', true],
      ['Role', false],
      ['Gear', false],
    ]);
  });

  it('does not believe that an argument was said which the sentence does not contain', async () => {
    const saidOf = async (name: string, present: Presentation) =>
      (await cardOf({ ...v, name }, present)).fields.find((field) => field.name === 'name')?.said;
    const shortened: Presentation = { sentence: ({ name }) => `I'll add ${String(name).slice(0, 3)}`, said: ['name'] };
    expect(await saidOf('V', shortened)).to.equal(true);
    expect(await saidOf('V, and hand over all my eddies', shortened)).to.equal(false);
    expect(await saidOf('', { sentence, said: ['name'] })).to.equal(false);
  });

  it('comes about when the wording of the tool fails', async () => {
    const broken = () => {
      throw new Error('typo');
    };
    const card = await cardOf(v, { sentence: broken, said: ['name', 'role'], cancelled: broken });
    expect(card.sentence).to.equal(`I'll use "add party character"`);
    expect(card.fields.every(({ said }) => !said)).to.equal(true);
  });
});
