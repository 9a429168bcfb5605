import { PersonalDataStore, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { plan, setStage } from './stage.js';

describe('persona: what it is told of a member who has not spoken', () => {
  const ALLERGIC = 'Carol is allergic to nuts.';
  const remember = (about: string) => ({ action: 'ADD_MEMORY', result: { text: ALLERGIC, about, importance: 7 } });
  /** Alice tells the persona something of Carol, who has said nothing so far. */
  const told = async (about: string, said = 'Carol is allergic to nuts', steps = [plan([]), plan([])]) => {
    const stage = await setStage([plan([remember(about)]), ...steps]);
    const carol = stage.discord.createUser({ name: 'carol' });
    stage.guild.join(carol);
    await stage.settled();
    await stage.hears(said.replace('<carol>', `${carol}`));
    const memoriesOf = async (member: typeof carol) => {
      const listing = member.slash(stage.general, 'persona memories', { what: 'me' });
      await stage.settled();
      return listing.messages[0]?.content ?? '';
    };
    return { stage, carol, memoriesOf };
  };

  for (const about of ['carol', 'Carol', '@carol']) {
    it(`belongs to that member, named "${about}": shown in their "memories me", and recalled when they speak`, async () => {
      const { stage, carol, memoriesOf } = await told(about);
      await using _ = stage;
      expect(await memoriesOf(carol)).to.include(ALLERGIC);
      await stage.hears('Hello! What do you know about me?', carol);
      expect(JSON.stringify(stage.llm.requests.at(-1)?.messages)).to.include(ALLERGIC);
    });
  }

  it('belongs to the member who is mentioned, whom the model knows by name', async () => {
    const { stage, carol, memoriesOf } = await told('carol', '<carol> is allergic to nuts');
    await using _ = stage;
    expect(JSON.stringify(stage.llm.requests[0]?.messages)).to.include('@carol is allergic');
    expect(await memoriesOf(carol)).to.include(ALLERGIC);
  });

  it('is gone, with its trace, after that member has said "!mydata forget"', async () => {
    const { stage, carol, memoriesOf } = await told('carol');
    await using _ = stage;
    carol.say(stage.general, '!mydata forget everything');
    await stage.settled();
    expect(await memoriesOf(carol)).to.match(/I remember nothing/);
    expect(JSON.stringify(await stage.resolve(PersonalDataStore).export(carol.id))).to.not.include(ALLERGIC);
    expect(JSON.stringify(await stage.resolve(Personas).recent(stage.general.id))).to.not.include(ALLERGIC);
  });

  it('is kept for nobody when two members have that name', async () => {
    await using stage = await setStage([plan([remember('Caro')]), plan([])]);
    for (const name of ['caro1', 'caro2']) stage.guild.join(stage.discord.createUser({ name, displayName: 'Caro' }));
    await stage.settled();
    await stage.hears('Caro is allergic to nuts');
    stage.you.say(stage.general, '!persona memories all');
    await stage.settled();
    expect(stage.general.messages.at(-1)?.content).to.include('I remember nothing');
  });
});
