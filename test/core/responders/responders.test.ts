import { CinnabarError, type Turn, UserError } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createHarness, type Harness } from '../commands/support/harness.js';
import type { Run } from '../plugins/support/harness.js';

describe('responders', () => {
  let harness: Harness;
  let room: Harness['responders'];
  let owner: Run;
  beforeEach(async () => {
    harness = await createHarness();
    room = harness.responders;
    owner = harness.owner('chat');
  });
  afterEach(() => harness[Symbol.asyncDispose]());

  const register = (respond: (turn: Turn) => Promise<void> = async () => undefined, name = 'chat') =>
    room.responder(owner, { name, description: 'Talks', respond });

  /** A message in the general channel. */
  async function turn(): Promise<Turn> {
    const { id } = harness.alice.say(harness.general, 'hello');
    await harness.settled();
    const channel = harness.client.channels.cache.get(harness.general.id);
    if (channel?.isSendable() !== true || channel.isDMBased()) throw new Error('There is no such channel.');
    const message = await channel.messages.fetch(id);
    return {
      id,
      trigger: 'mention',
      text: message.content,
      earlier: [],
      actor: { userId: message.author.id, guildId: harness.guild.id, channelId: channel.id },
      user: message.author,
      member: message.member,
      guild: channel.guild,
      channel,
      message,
      signal: new AbortController().signal,
      reply: (reply) => message.reply(typeof reply === 'string' ? reply : { content: reply.content ?? '' }),
      sending: (sent) => sent,
    };
  }

  it('are listed by name where their plugin is enabled', () => {
    register();
    register(undefined, 'agent');
    expect(room.list(harness.guild.id)).to.deep.equal([
      { name: 'agent', description: 'Talks', plugin: 'chat', batches: false },
      { name: 'chat', description: 'Talks', plugin: 'chat', batches: false },
    ]);
    harness.disabled.add('chat');
    expect(room.list(harness.guild.id)).to.deep.equal([]);
  });

  it('get the turn, and count as work under way until they have answered it', async () => {
    register(async ({ text, reply }) => {
      expect(harness.boundary.inFlight('chat')).to.equal(1);
      await reply(`You said ${text}.`);
    });
    await room.respond('chat', await turn());
    expect(harness.boundary.inFlight('chat')).to.equal(0);
    await harness.discord.expectMessage({ content: 'You said hello.' });
  });

  it('pass their errors to the caller', async () => {
    register(async () => {
      throw new UserError('Not now.');
    });
    const failure = await room.respond('chat', await turn()).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(UserError);
    expect(harness.boundary.inFlight()).to.equal(0);
  });

  it('are unknown when they are not registered, switched off, or gone', async () => {
    register();
    const asked = await turn();
    const code = async (name: string) => {
      const failure = await room.respond(name, asked).catch((error: unknown) => error);
      return failure instanceof CinnabarError ? failure.code : failure;
    };
    expect(await code('relay')).to.equal('CINNABAR_RESPONDER_UNKNOWN');
    harness.disabled.add('chat');
    expect(await code('chat')).to.equal('CINNABAR_RESPONDER_UNKNOWN');
    harness.disabled.clear();
    expect(await code('chat')).to.equal(undefined);
    await owner.scope.close();
    expect(await code('chat')).to.equal('CINNABAR_RESPONDER_UNKNOWN');
  });

  it('have names of their own', () => {
    register();
    expect(() => register()).to.throw(CinnabarError, /responder "chat" is already registered by the plugin "chat"/);
    expect(() => register(undefined, 'My Mind')).to.throw(CinnabarError, /use lower case letters/);
    expect(owner.scope.effects).to.deep.equal(['responder chat']);
  });
});
