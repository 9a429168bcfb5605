import { createTestHost } from '@cinnabar/core/testing';
import { Access, definePlugin, Plugins } from '@cinnabar/sdk';
import { expect } from 'chai';

/** A plugin that records the events that it receives. */
const listening = (id: string, heard: string[]) =>
  definePlugin({
    manifest: { id, version: '1.0.0', description: 'Listens', intents: ['GuildMessages', 'MessageContent'] },
    setup: ({ on }) => void on('messageCreate', (message) => heard.push(`${id}: ${message.content}`)),
  });

describe('the gateway', () => {
  it('asks for the union of what the loaded plugins need, and again when one that is loaded later needs more', async () => {
    const joined: string[] = [];
    const heard: string[] = [];
    const doorman = definePlugin({
      manifest: { id: 'doorman', version: '1.0.0', description: 'Sees who comes', intents: ['GuildMembers'] },
      setup: ({ on }) => void on('guildMemberAdd', (member) => joined.push(member.user.username)),
    });
    await using host = await createTestHost({ plugins: [listening('ear', heard)] });
    expect(host.client.options.intents.toArray()).to.have.members(['Guilds', 'GuildMessages', 'MessageContent']);
    host.guild.join(host.discord.createUser({ name: 'carol' }));
    await host.settled();

    host.plugins.add(doorman, { path: '(memory)' });
    const identified = heardOf(host, 'connected');
    await host.plugins.load('doorman');
    await host.advance(5_000);
    await identified;
    host.guild.join(host.discord.createUser({ name: 'dave' }));
    host.alice.say(host.general, 'still here?');
    await host.settled();
    expect(joined).to.deep.equal(['dave']);
    expect(heard).to.deep.equal(['ear: still here?']);
  });

  it('has one listener for all that wait for the connection: Node takes more than ten for a leak', async () => {
    const ran: number[] = [];
    const waiting = definePlugin({
      manifest: { id: 'waiting', version: '1.0.0', description: 'Waits for the connection' },
      setup({ client, ready }) {
        const before = client.listenerCount('clientReady');
        for (let number = 0; number < 12; number++) ready(() => ran.push(number));
        expect(client.listenerCount('clientReady')).to.equal(before);
      },
    });
    await using _host = await createTestHost({ plugins: [waiting] });
    expect(ran).to.have.length(12);
  });

  it('keeps the events of a guild from plugins that are disabled there, without code in the plugin', async () => {
    const heard: string[] = [];
    await using host = await createTestHost({ plugins: [listening('ear', heard), listening('other', heard)] });
    await host.resolve(Plugins).disable(host.guild.id, 'ear');
    host.alice.say(host.general, 'psst');
    await host.settled();
    expect(heard).to.deep.equal(['other: psst']);
    await host.resolve(Plugins).enable(host.guild.id, 'ear');
    host.alice.say(host.general, 'hello');
    await host.settled();
    expect(heard.slice(1)).to.have.members(['ear: hello', 'other: hello']);
  });

  it('isolates errors of a handler from all others', async () => {
    const heard: string[] = [];
    const broken = definePlugin({
      manifest: { id: 'broken', version: '1.0.0', description: 'Throws', intents: ['GuildMessages'] },
      setup({ on }) {
        on('messageCreate', () => {
          throw new Error('at once');
        });
        on('messageCreate', async () => {
          throw new Error('later');
        });
      },
    });
    await using host = await createTestHost({ plugins: [broken, listening('ear', heard)] });
    host.alice.say(host.general, 'boo');
    await host.settled();
    expect(heard).to.deep.equal(['ear: boo']);
  });

  it('hears after a reconnect what was said meanwhile', async () => {
    const heard: string[] = [];
    await using host = await createTestHost({ plugins: [listening('ear', heard)] });
    host.discord.faults.gateway.dropSockets();
    host.alice.say(host.general, 'can you hear me?');
    await heardOf(host, 'resume');
    await host.settled();
    expect(heard).to.deep.equal(['ear: can you hear me?']);
  });

  it('stops cleanly while it is reconnecting', async () => {
    const host = await createTestHost({ plugins: [listening('ear', [])] });
    host.discord.faults.gateway.dropSockets();
    await host[Symbol.asyncDispose]();
    expect(host.client.isReady()).to.equal(false);
  });

  it('knows the owner of the application as the owner of the bot', async () => {
    await using host = await createTestHost({ plugins: [listening('ear', [])] });
    const access = host.resolve(Access);
    const at = (userId: string) => ({ userId, guildId: host.guild.id, channelId: host.general.id });
    expect(await access.tierOf(at(host.you.id))).to.equal('botOwner');
    expect(await access.tierOf(at(host.alice.id))).to.equal('everyone');
  });
});

type Host = Awaited<ReturnType<typeof createTestHost>>;

function heardOf({ client }: Host, what: 'resume' | 'connected'): Promise<void> {
  const event = ({ resume: 'shardResume', connected: 'shardReady' } as const)[what];
  return new Promise((resolve) => client.once(event, () => resolve()));
}
