import { definePlugin, ToolPolicies, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openDesk } from './desk.js';

const session = { id: 'task-1', name: 'this task' };

/** A tool that takes effect in the server, wherever it is called. */
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
    const desk = await openDesk({ plugins: [courier(() => place)] });
    const { host } = desk;
    const home = { guildId: host.guild.id, channelId: host.general.id };
    place = home;
    const channel = host.alice.openDm(host.bot);
    const deliver = () => desk.call(host.alice, { what: 'milk' }, { tool: 'deliver', channel, session });
    const reachTo = (there: typeof place = home) => {
      place = there;
    };
    return { ...desk, channel, deliver, reachTo };
  };

  it('is asked for where it was called, under the rules of the server', async () => {
    await using desk = await open();
    await desk.configure('require', 'destructive');
    expect(await desk.deliver()).to.include({ status: 'done', text: 'delivered milk' });
    await desk.configure('require', 'write');
    expect(await desk.deliver()).to.include({ status: 'deferred' });
    expect(desk.latest(desk.channel).content).to.contain('milk');
  });

  it('cannot be allowed for a whole task where the server wants each one confirmed', async () => {
    await using desk = await open();
    await desk.host.resolve(ToolPolicies).set(desk.host.guild.id, 'deliver', 'confirm');
    await desk.deliver();
    expect(JSON.stringify(desk.latest(desk.channel).components)).not.to.contain('For this task');
  });

  it('is let through in the server for which that was allowed, and in no other', async () => {
    await using desk = await open();
    const { alice, discord, application, settled } = desk.host;
    const other = discord.createGuild({ name: 'Elsewhere', owner: alice });
    other.invite(application);
    const channelId = other.createChannel({ name: 'lobby' }).id;
    await settled();
    await desk.deliver();
    alice.click(desk.latest(desk.channel), 'For this task');
    await settled();
    desk.reachTo({ guildId: other.id, channelId });
    expect(await desk.deliver()).to.include({ status: 'deferred' });
    desk.reachTo();
    expect(await desk.deliver()).to.include({ status: 'done' });
  });
});
