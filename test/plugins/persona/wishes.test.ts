import { Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { plan, type Stage, set, setStage } from './stage.js';

describe('persona: goals and desires', () => {
  const goal = (text: string) => ({ action: 'ADD_GOAL', result: { goal: text } });
  const desire = (text: string) => ({ action: 'ADD_DESIRE', result: { desire: text } });
  const situation = ({ llm }: Stage) => JSON.stringify(llm.requests.at(-1)?.messages);
  const goalsIn = async (stage: Stage, channel = stage.general) =>
    (await stage.resolve(Personas).state({ guildId: stage.guild.id, channelId: channel.id })).goals;
  const command = async (stage: Stage, text: string, channel = stage.general) => {
    stage.you.say(channel, `!persona ${text}`);
    await stage.settled();
    return channel.messages.at(-1)?.content ?? '';
  };
  const secretChannel = (stage: Stage) => {
    const secret = stage.guild.createChannel({ name: 'secret' });
    stage.guild.overwrite(secret, { for: stage.guild.everyone, deny: ['ViewChannel'] });
    for (const member of [stage.alice, stage.bot])
      stage.guild.overwrite(secret, { for: member, allow: ['ViewChannel'] });
    return secret;
  };

  it('that come from a private channel are told there alone, although the mind is one', async () => {
    await using stage = await setStage([plan([goal('Help Alice to resign'), desire('Keep the secret of Alice')])]);
    const secret = secretChannel(stage);
    stage.alice.say(secret, '!ai I want to resign');
    await stage.settled();
    expect(await goalsIn(stage, secret)).to.deep.equal(['Help Alice to resign']);
    expect(await goalsIn(stage)).to.deep.equal([]);
    expect(await command(stage, 'show')).to.not.match(/resign|secret/);
    expect(await command(stage, 'goals')).to.equal('It has no goals.');
    expect(await command(stage, 'goals remove resign')).to.equal('There is no such goal.');
    expect(await command(stage, 'undo')).to.not.match(/resign|secret/);
    expect(await goalsIn(stage, secret)).to.deep.equal([]);
  });

  it('that come from a private channel are not told to a model elsewhere', async () => {
    await using stage = await setStage([plan([goal('Help Alice to resign')]), plan([]), plan([])]);
    const secret = secretChannel(stage);
    stage.alice.say(secret, '!ai I want to resign');
    await stage.settled();
    await stage.hears('What are you up to?');
    expect(situation(stage)).to.not.include('Help Alice to resign');
    stage.alice.say(secret, '!ai And here?');
    await stage.settled();
    expect(situation(stage)).to.include('Help Alice to resign');
  });

  for (const how of ['delete', 'edit'] as const) {
    it(`go with the message that led to them: ${how}`, async () => {
      await using stage = await setStage([plan([goal('See the boat of Alice'), desire('A boat')])]);
      await command(stage, 'goals add Learn every name');
      const message = stage.alice.say(stage.general, '!ai I have a boat');
      await stage.settled();
      expect(await goalsIn(stage)).to.deep.equal(['Learn every name', 'See the boat of Alice']);
      if (how === 'delete') stage.alice.delete(message);
      else stage.alice.edit(message, '!ai I have nothing');
      await stage.settled();
      expect(await goalsIn(stage)).to.deep.equal(['Learn every name']);
      expect(await command(stage, 'undo')).to.not.match(/boat/i);
      await command(stage, 'undo');
      expect(await goalsIn(stage)).to.deep.equal([]);
    });
  }

  it('that come from a private channel take no room elsewhere: twenty secret desires leave space for twenty others', async () => {
    const secrets = Array.from({ length: 20 }, (_, index) => desire(`Keep secret number ${index} of Alice`));
    await using stage = await setStage([plan(secrets), plan([desire('Hear a story')])]);
    await set(stage, 'maxActions', 30);
    const secret = secretChannel(stage);
    stage.alice.say(secret, '!ai I have secrets');
    await stage.settled();
    await stage.hears('Tell us a story');
    expect(await command(stage, 'desires')).to.equal('**Desires**\n1. Hear a story');
  });

  it('are shown and changed by command: `persona desires`, as `persona goals`', async () => {
    await using stage = await setStage();
    expect(await command(stage, 'desires add Hear a good story')).to.include('1. Hear a good story');
    expect(await command(stage, 'desires remove 1')).to.equal('It has no desires.');
  });

  it('stay here when a card is made, unless they were given to it', async () => {
    await using stage = await setStage([plan([goal('See the boat of Alice')])]);
    await command(stage, 'goals add Learn every name');
    await stage.hears('I have a boat');
    const exported = stage.you.slash(stage.general, 'persona export');
    await stage.settled();
    const [file] = exported.messages[0]?.attachments ?? [];
    const card = Buffer.from(file?.data ?? []).toString('utf8');
    expect(card).to.include('Learn every name').and.not.include('boat');
  });
});
