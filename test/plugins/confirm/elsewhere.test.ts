import { definePlugin, ToolPolicies, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openHarness } from './harness.js';

const session = { id: 'task-1', name: 'this task' };

/** A tool that takes effect in the server, independent of where it is called. */
const courier = (guildOf: () => { readonly guildId: string; readonly channelId: string }) =>
  definePlugin({
    manifest: { id: 'courier', version: '1.0.0', description: 'Delivers' },
    setup({ tool }) {
      tool({
        name: 'deliver',
        description: 'Delivers something.',
        input: z.object({ what: z.string() }),
        risk: 'write',
        place: guildOf,
        run: ({ what }) => `delivered ${what}`,
      });
    },
  });

describe('a call from a direct message that takes effect in a server', () => {
  const open = async () => {
    let place = { guildId: '', channelId: '' };
    const harness = await openHarness({ plugins: [courier(() => place)] });
    const { host } = harness;
    const home = { guildId: host.guild.id, channelId: host.general.id };
    place = home;
    const channel = host.alice.openDm(host.bot);
    const deliver = () => harness.call(host.alice, { what: 'milk' }, { tool: 'deliver', channel, session });
    const reachTo = (there: typeof place = home) => {
      place = there;
    };
    return { ...harness, channel, deliver, reachTo };
  };

  it('is asked for where it was called, under the rules of the server', async () => {
    await using harness = await open();
    await harness.configure('require', 'destructive');
    expect(await harness.deliver()).to.include({ status: 'done', text: 'delivered milk' });
    await harness.configure('require', 'write');
    expect(await harness.deliver()).to.include({ status: 'deferred' });
    expect(harness.latest(harness.channel).content).to.contain('milk');
  });

  it('cannot be allowed for a whole task where the server wants each one confirmed', async () => {
    await using harness = await open();
    await harness.host.resolve(ToolPolicies).set(harness.host.guild.id, 'deliver', 'confirm');
    await harness.deliver();
    expect(JSON.stringify(harness.latest(harness.channel).components)).not.to.contain('For this task');
  });

  it('is let through in the server for which that was allowed, and in no other', async () => {
    await using harness = await open();
    const { alice, discord, application, settled } = harness.host;
    const other = discord.createGuild({ name: 'Elsewhere', owner: alice });
    other.invite(application);
    const channelId = other.createChannel({ name: 'lobby' }).id;
    await settled();
    await harness.deliver();
    alice.click(harness.latest(harness.channel), 'For this task');
    await settled();
    harness.reachTo({ guildId: other.id, channelId });
    expect(await harness.deliver()).to.include({ status: 'deferred' });
    harness.reachTo();
    expect(await harness.deliver()).to.include({ status: 'done' });
  });
});
