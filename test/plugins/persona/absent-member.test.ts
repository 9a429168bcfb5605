import { PersonalDataStore, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { plan, usePersonaHost } from './harness.js';

describe('persona: what its prompt contains about a member who has not spoken', () => {
  const open = usePersonaHost();
  const ALLERGIC = 'Carol is allergic to nuts.';
  const remember = (about: string) => ({ action: 'ADD_MEMORY', result: { text: ALLERGIC, about, importance: 7 } });
  /** Alice writes to the persona about Carol, who has not written anything. */
  const told = async (about: string, said = 'Carol is allergic to nuts', steps = [plan([]), plan([])]) => {
    const harness = await open([plan([remember(about)]), ...steps]);
    const carol = harness.discord.createUser({ name: 'carol' });
    harness.guild.join(carol);
    await harness.settled();
    await harness.hears(said.replace('<carol>', `${carol}`));
    const memoriesOf = async (member: typeof carol) => {
      const listing = member.slash(harness.general, 'persona memories', { what: 'me' });
      await harness.settled();
      return listing.messages[0]?.content ?? '';
    };
    return { harness, carol, memoriesOf };
  };

  for (const about of ['carol', 'Carol', '@carol']) {
    it(`belongs to that member, named "${about}": shown in their "memories me", and recalled when they speak`, async () => {
      const { harness, carol, memoriesOf } = await told(about);
      await using _ = harness;
      expect(await memoriesOf(carol)).to.include(ALLERGIC);
      await harness.hears('Hello! What do you know about me?', carol);
      expect(JSON.stringify(harness.llm.requests.at(-1)?.messages)).to.include(ALLERGIC);
    });
  }

  it('belongs to the member who is mentioned, whom the model knows by name', async () => {
    const { harness, carol, memoriesOf } = await told('carol', '<carol> is allergic to nuts');
    await using _ = harness;
    expect(JSON.stringify(harness.llm.requests[0]?.messages)).to.include('@carol is allergic');
    expect(await memoriesOf(carol)).to.include(ALLERGIC);
  });

  it('is gone, with its trace, after that member has said "!mydata forget"', async () => {
    const { harness, carol, memoriesOf } = await told('carol');
    await using _ = harness;
    carol.say(harness.general, '!mydata forget everything');
    await harness.settled();
    expect(await memoriesOf(carol)).to.match(/I remember nothing/);
    expect(JSON.stringify(await harness.resolve(PersonalDataStore).export(carol.id))).to.not.include(ALLERGIC);
    expect(JSON.stringify(await harness.resolve(Personas).recent(harness.general.id))).to.not.include(ALLERGIC);
  });

  it('is kept for neither when two members have that name', async () => {
    await using harness = await open([plan([remember('Caro')]), plan([])]);
    for (const name of ['caro1', 'caro2'])
      harness.guild.join(harness.discord.createUser({ name, displayName: 'Caro' }));
    await harness.settled();
    await harness.hears('Caro is allergic to nuts');
    harness.you.say(harness.general, '!persona memories all');
    await harness.settled();
    expect(harness.general.messages.at(-1)?.content).to.include('I remember nothing');
  });
});
