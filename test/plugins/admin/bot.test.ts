import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { definePlugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { PermissionsBitField } from 'discord.js';
import { answering } from './town.js';

const bouncer = definePlugin({
  manifest: {
    id: 'bouncer',
    version: '1.0.0',
    description: 'Shows people out',
    permissions: ['KickMembers', 'SendMessages'],
  },
  setup: () => undefined,
});

describe('admin: the bot itself', () => {
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;
  before(async () => {
    host = await createTestHost({ plugins: ['admin', bouncer] });
    say = answering(host);
  });
  after(() => host[Symbol.asyncDispose]());

  it('tells members its versions, how long it has been up, and how fast Discord answers', async () => {
    await host.advance(90 * 60_000);
    expect(await say(host.alice, '!bot info')).to.match(/runs on Cinnabar \d+\.\d+\.\d+, discord\.js .* and Node/);
    expect(await say(host.alice, '!bot uptime')).to.match(/^Up for 1h30m, since <t:\d+:f>\.$/);
    expect(await say(host.alice, '!bot ping')).to.match(/^Pong\. A message takes \d+ ms, the gateway’s heartbeat: /);
  });

  it('gives a link with exactly the permissions that the loaded plugins declare', async () => {
    const link = new URL(/<(\S+)>/.exec(await say(host.alice, '!bot invite'))?.[1] ?? '');
    const permissions = new PermissionsBitField(BigInt(link.searchParams.get('permissions') ?? 0));
    expect(permissions.toArray().sort()).to.deep.equal(['KickMembers', 'SendMessages', 'ViewChannel']);
    expect(link.searchParams.get('scope')?.split(' ')).to.have.members(['bot', 'applications.commands']);
  });

  it('is renamed in a server by its admins', async () => {
    expect(await say(host.alice, '!bot nick Mox')).to.include('you need to be at least an admin');
    expect(await say(host.you, '!bot nick Mox')).to.equal('I am called Mox here now.');
    expect(await say(host.you, `!bot nick ${'x'.repeat(33)}`)).to.equal('A name has at most 32 characters.');
    expect(await say(host.you, '!bot nick')).to.match(/^I am called .+ here now\.$/);
  });

  it("leaves a server when the bot's owner agrees, and never otherwise", async () => {
    const other = host.discord.createGuild({ name: 'Badlands', owner: host.alice });
    other.invite(host.application);
    await host.settled();
    expect(await say(host.alice, `!bot leave ${other.id}`)).to.include("you need to be at least the bot's owner");
    expect(await say(host.you, '!bot servers')).to.include(`Badlands \`${other.id}\``);
    expect(await say(host.you, `!bot leave ${other.id}`)).to.equal('Leave **Badlands** (2 members)?');
    const asked = host.general.messages.at(-1);
    if (asked !== undefined) host.you.click(asked, 'Leave it');
    await host.settled();
    expect(host.client.guilds.cache.has(other.id)).to.equal(false);
    expect(await say(host.you, '!audit')).to.include(`bot leave ${other.id} (agreed)`);
  });
});
