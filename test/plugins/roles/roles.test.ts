import {
  createTestHost,
  type LocalMessage,
  type LocalRole,
  type LocalUser,
  type TestHost,
} from '@cinnabar/core/testing';
import { definePlugin, PersonalDataStore, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { answering } from '../admin/harness.js';

/** Requests the intent for members of servers, as a plugin or the owner does. */
const watcher = definePlugin({
  manifest: { id: 'watcher', version: '1.0.0', description: 'Watches', intents: ['GuildMembers'] },
  setup: () => undefined,
});

describe('roles', () => {
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;
  let carol: LocalUser;
  const roles = new Map<string, LocalRole>();
  const role = (name: string): LocalRole => roles.get(name) ?? expect.fail(`no role ${name}`);
  const rolesOf = (user: LocalUser) => [...host.guild.memberOf(user).roles].map(({ name }) => name).sort();
  const last = (): LocalMessage => host.general.messages.findLast(({ author }) => author.bot) ?? expect.fail('silence');
  const press = async (user: LocalUser, message: LocalMessage, button: string) => {
    const interaction = user.click(message, button);
    await host.settled();
    return interaction.messages.at(-1)?.content;
  };
  const call = async (user: LocalUser, name: string, input: object) => {
    const actor = { userId: user.id, guildId: host.guild.id, channelId: host.general.id };
    const outcome = await host.resolve(Tools).invoke({ name, arguments: input, actor, origin: 'test' });
    if (outcome.status === 'done') return outcome.text;
    return outcome.status === 'failed'
      ? outcome.error.message
      : outcome.status === 'denied'
        ? outcome.reason
        : outcome.status;
  };

  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'roles', watcher] });
    say = answering(host);
    for (const name of ['Guest', 'Red', 'Blue', 'Green', 'News', 'Bots'])
      roles.set(name, host.guild.createRole({ name, position: 1 }));
    roles.set('Officer', host.guild.createRole({ name: 'Officer', position: 1, permissions: ['BanMembers'] }));
    const admin = host.guild.createRole({ name: 'Admin', position: 2, permissions: ['ManageGuild', 'ManageRoles'] });
    for (const local of host.guild.roles.values())
      if (local.botId !== undefined) host.guild.editRole(local, { position: 50 });
    roles.set('Boss', host.guild.createRole({ name: 'Boss', position: 10 }));
    roles.set('Above', host.guild.createRole({ name: 'Above', position: 60 }));
    carol = host.discord.createUser({ name: 'carol' });
    host.guild.join(carol, { roles: [admin] });
    await host.settled();
  });
  after(() => host[Symbol.asyncDispose]());

  describe('for those who join', () => {
    it('gives members and bots the roles that an admin has chosen', async () => {
      expect(await say(carol, '!autorole add Guest')).to.equal('New members get the role **Guest** from now on.');
      expect(await say(carol, '!autorole add Bots bots')).to.include('Bots that are added here get the role **Bots**');
      const [dave, robot] = [
        host.discord.createUser({ name: 'dave' }),
        host.discord.createApplication({ name: 'Robot', owner: host.you }),
      ];
      host.guild.join(dave);
      host.guild.invite(robot);
      await host.settled();
      expect(rolesOf(dave)).to.deep.equal(['Guest']);
      expect(rolesOf(robot.user)).to.include('Bots').and.not.include('Guest');
    });

    it('says at once when the bot does not hear of them', async () => {
      await using harness = await createTestHost({ plugins: ['admin', 'roles'] });
      harness.guild.createRole({ name: 'Guest', position: 1 });
      await harness.settled();
      const ask = answering(harness);
      expect(await ask(harness.you, '!autorole add Guest')).to.match(
        /^New members get the role \*\*Guest\*\* from now on\.\n⚠️ I do not hear of new members/,
      );
      expect(await ask(harness.you, '!autorole list')).to.include('⚠️ I do not hear of new members');
    });

    it('waits until a new member has accepted the rules, and forgets who leaves before', async () => {
      const [erin, frank] = [host.discord.createUser({ name: 'erin' }), host.discord.createUser({ name: 'frank' })];
      host.guild.join(erin, { pending: true });
      host.guild.join(frank, { pending: true });
      await host.settled();
      expect(rolesOf(erin)).to.deep.equal([]);
      expect(await host.resolve(PersonalDataStore).export(frank.id)).to.have.property('roles');
      host.guild.remove(frank);
      host.guild.passScreening(erin);
      await host.settled();
      expect(rolesOf(erin)).to.deep.equal(['Guest']);
      expect(await host.resolve(PersonalDataStore).export(frank.id)).not.to.have.property('roles');
      expect(await host.resolve(PersonalDataStore).export(erin.id)).not.to.have.property('roles');
    });

    it('refuses roles above the admin or the bot, those of bots, and members without the permission', async () => {
      expect(await say(carol, '!autorole add Boss')).to.equal('The role **Boss** is not below your highest role.');
      expect(await say(host.you, '!autorole add Above')).to.equal('The role **Above** is not below my highest role.');
      expect(await say(host.you, '!autorole add Cinnabar')).to.include('belongs to a bot');
      expect(await say(host.alice, '!autorole add Guest')).to.include('you need to be at least an admin');
      expect(await say(carol, `!set roles joinRoles ${role('Boss').id}`)).to.include('not below your highest role');
      expect(await say(carol, `!set roles joinRoles ${role('Officer').id}`)).to.include('the role has Ban Members');
    });

    it('gives a dangerous role away only when the owner of the server confirms it, and with no more than it had then', async () => {
      expect(await say(carol, '!autorole add Officer')).to.include(
        'The role **Officer** has Ban Members: only the owner of this server',
      );
      expect(await say(host.you, '!autorole add Officer')).to.include('Give it away all the same?');
      expect(() => carol.click(last(), 'Give it away')).not.to.throw();
      await host.settled();
      host.you.click(last(), 'Give it away');
      await host.settled();
      expect(last().content).to.equal('New members get the role **Officer** from now on.');
      const gina = host.discord.createUser({ name: 'gina' });
      host.guild.join(gina);
      await host.settled();
      expect(rolesOf(gina)).to.deep.equal(['Guest', 'Officer']);

      host.guild.editRole(role('Officer'), { permissions: ['BanMembers', 'Administrator'] });
      const henry = host.discord.createUser({ name: 'henry' });
      host.guild.join(henry);
      await host.settled();
      expect(rolesOf(henry)).to.deep.equal(['Guest']);
      expect(await say(carol, '!autorole list')).to.include(
        'it has Administrator, which the owner of this server has not confirmed',
      );
      expect(await say(carol, '!autorole remove Officer')).to.equal('New members no longer get the role **Officer**.');
    });

    it('takes a role of moderators or admins of the bot for a dangerous one, whatever Discord lets it do', async () => {
      await say(carol, '!autorole add Blue');
      await say(host.you, '!roles admin add Blue');
      const irma = host.discord.createUser({ name: 'irma' });
      host.guild.join(irma);
      await host.settled();
      expect(rolesOf(irma)).to.not.include('Blue');
      expect(await say(carol, '!autorole list')).to.include('it has the rights of my admins');
      expect(await say(carol, '!autorole add Blue')).to.include('only the owner of this server');
      await say(host.you, '!autorole add Blue');
      host.you.click(last(), 'Give it away');
      await host.settled();
      const judy = host.discord.createUser({ name: 'judy' });
      host.guild.join(judy);
      await host.settled();
      expect(rolesOf(judy)).to.include('Blue');
      await say(host.you, '!roles admin remove Blue');
      await say(carol, '!autorole remove Blue');
    });

    it('says once in the channel for reports what keeps it from giving roles', async () => {
      const reports = host.guild.createChannel({ name: 'reports' });
      await say(host.you, `!set roles reportChannel #reports`);
      const own = [...host.guild.memberOf(host.bot).roles][0] ?? expect.fail();
      host.guild.editRole(own, {
        permissions: ['ViewChannel', 'SendMessages', 'ManageMessages', 'ReadMessageHistory', 'AddReactions'],
      });
      for (const name of ['ida', 'jack']) host.guild.join(host.discord.createUser({ name }));
      await host.settled();
      expect(reports.messages.map(({ content }) => content)).to.deep.equal([
        'I can give and take no roles: I lack the permission Manage Roles. An admin of this server can give it to me.',
      ]);
      host.guild.editRole(own, {
        permissions: [
          'ViewChannel',
          'SendMessages',
          'ManageMessages',
          'ReadMessageHistory',
          'AddReactions',
          'ManageRoles',
        ],
      });
      await host.settled();
    });

    it('is set up in plain language, under the same rules', async () => {
      expect(await call(carol, 'set_join_role', { role: 'news' })).to.equal(
        'New members get the role **News** from now on.',
      );
      expect(await call(carol, 'set_join_role', { role: 'Boss' })).to.equal(
        'The role **Boss** is not below your highest role.',
      );
      expect(await call(host.you, 'set_join_role', { role: 'Officer' })).to.include(
        'only the owner of this server can have me give it away',
      );
      expect(await call(host.alice, 'set_join_role', { role: 'News' })).to.include('admin');
      expect(await call(carol, 'set_join_role', { role: 'News', remove: true })).to.include('no longer');
    });
  });

  describe('that members choose', () => {
    let panel: LocalMessage;

    it('are offered in a menu whose roles exclude each other, with buttons', async () => {
      await say(carol, '!rolemenu create Colours max:1');
      await say(carol, '!rolemenu add Colours Red emoji:🔴 For those who like it hot');
      await say(carol, '!rolemenu add Colours Blue');
      expect(await say(carol, '!rolemenu add Colours Boss')).to.include('not below your highest role');
      expect(await say(carol, '!rolemenu post Colours')).to.match(
        /^\*\*Colours\*\*[\s\S]*Choose one at most[\s\S]*Posted: https:/,
      );
      panel =
        host.general.messages.find(
          ({ components }) => components.length > 0 && JSON.stringify(components).includes('Blue'),
        ) ?? expect.fail();
      expect(await press(host.alice, panel, 'Red')).to.equal(`You now have <@&${role('Red').id}>.`);
      expect(await press(host.alice, panel, 'Blue')).to.equal(
        `You now have <@&${role('Blue').id}>, and no longer <@&${role('Red').id}>.`,
      );
      expect(rolesOf(host.alice)).to.deep.equal(['Blue']);
      expect(await press(host.alice, panel, 'Blue')).to.equal(`You no longer have <@&${role('Blue').id}>.`);
    });

    it('are changed once by a press that Discord delivers twice', async () => {
      host.discord.faults.gateway.interactions.repeat = true;
      await press(host.alice, panel, 'Red');
      host.discord.faults.clear();
      expect(rolesOf(host.alice)).to.deep.equal(['Red']);
    });

    it('can be taken and given back by command and by tool', async () => {
      expect(await say(host.bob, '!role list')).to.include(
        `• **Colours** (one at most): <@&${role('Red').id}>, <@&${role('Blue').id}>`,
      );
      expect(await say(host.bob, '!role get blue')).to.equal(`You now have <@&${role('Blue').id}>.`);
      expect(await say(host.bob, '!selfrole add Guest')).to.equal(
        'The role **Guest** is not one that members choose themselves.',
      );
      expect(await call(host.bob, 'choose_own_roles', { get: ['Red'] })).to.include(`no longer <@&${role('Blue').id}>`);
      expect(await say(host.bob, '!role drop Red')).to.equal(`You no longer have <@&${role('Red').id}>.`);
    });

    it('keep to the least and the most of their menu, in a select menu, too', async () => {
      expect(
        await call(carol, 'offer_self_roles', { menu: 'Topics', roles: ['News', 'Green', 'Guest'], min: 1, max: 2 }),
      ).to.equal('Members choose among 3 roles in that menu (1 to 2). It is not posted yet.');
      await call(carol, 'post_role_menu', { menu: 'topics', style: 'menu', text: 'What do you read?' });
      const menu =
        host.general.messages.find(({ content }) => content.startsWith('What do you read?')) ?? expect.fail();
      host.bob.select(menu, 'Choose your roles', [role('News').id, role('Green').id]);
      await host.settled();
      expect(rolesOf(host.bob)).to.deep.equal(['Green', 'News']);
      expect(await say(host.bob, '!role get Guest')).to.equal(
        'You can have at most 2 of these roles at once: give one back first.',
      );
      await say(host.bob, '!role drop News');
      expect(await say(host.bob, '!role drop Green')).to.equal(
        'You keep at least 1 of these roles: choose another one first.',
      );
    });

    it('are shown in their message as they are: renamed, deleted, or gone from the menu', async () => {
      host.guild.editRole(role('Blue'), { name: 'Azure' });
      await host.settled();
      expect(JSON.stringify(panel.components)).to.include('Azure').and.not.include('Blue');
      host.guild.deleteRole(role('Blue'));
      await host.settled();
      expect(JSON.stringify(panel.components)).not.to.include('Azure');
      expect(await say(carol, '!rolemenu list')).to.include(
        `**Colours** (one at most): 🔴 <@&${role('Red').id}>; posted at`,
      );
      await say(carol, '!rolemenu delete Topics');
      expect(host.general.messages.some(({ content }) => content.startsWith('What do you read?'))).to.equal(false);
    });

    it('are refused with a sentence when the bot has lost its permission', async () => {
      const own = [...host.guild.memberOf(host.bot).roles][0] ?? expect.fail();
      const before = own.permissions;
      host.guild.editRole(own, { permissions: ['ViewChannel', 'SendMessages'] });
      await host.settled();
      expect(await press(host.bob, panel, 'Red')).to.include('I lack the permission Manage Roles.');
      host.guild.editRole(own, { permissions: before });
      await host.settled();
    });
  });

  describe('for reactions', () => {
    it('are given and taken with the reaction, on a message of anyone', async () => {
      const rules = host.alice.say(host.general, 'React to get the news');
      const link = `https://discord.com/channels/${host.guild.id}/${host.general.id}/${rules.id}`;
      expect(await say(carol, `!reactionrole add ${link} 📰 News`)).to.include('Who reacts with 📰');
      expect(await say(carol, `!reactionrole add ${link} nonsense News`)).to.equal('**nonsense** is not an emoji.');
      expect(await say(carol, `!reactionrole add https://discord.com/channels/1/2/3 📰 News`)).to.include(
        'a link to a message of this server',
      );
      host.alice.react(rules, '📰');
      await host.settled();
      expect(rolesOf(host.alice)).to.include('News');
      host.alice.unreact(rules, '📰');
      await host.settled();
      expect(rolesOf(host.alice)).not.to.include('News');
      expect(await say(carol, '!reactionrole list')).to.equal(`• 📰 → <@&${role('News').id}>: ${link}`);
      for (let n = 0; n < 15; n += 1) {
        host.bob.react(rules, '📰');
        host.bob.unreact(rules, '📰');
      }
      await host.settled();
      expect(host.bob.openDm(host.application).messages.at(-1)?.content).to.include('You change your roles too often');
      host.alice.delete(rules);
      await host.settled();
      expect(await say(carol, '!reactionrole list')).to.equal('There are no reaction roles here yet.');
    });
  });

  describe('of the bot’s moderators and admins', () => {
    it('are given and taken by those who have that tier, and none that is above the moderator', async () => {
      const [deputies, keepers] = ['Deputies', 'Keepers'].map((name) => host.guild.createRole({ name, position: 1 }));
      const erin = host.discord.createUser({ name: 'erin-mod' });
      const mods = host.guild.createRole({ name: 'Mods', position: 3, permissions: ['KickMembers', 'ManageRoles'] });
      host.guild.join(erin, { roles: [mods] });
      await host.settled();
      expect(await say(erin, `!role give ${host.bob} Deputies`)).to.include('has the role');
      expect(await say(erin, `!role take ${host.bob} Deputies`)).to.include('no longer has');
      await say(host.you, '!roles admin add Deputies');
      await say(host.you, '!roles mod add Keepers');
      const refusal = 'makes members admins of mine: only my admins give or take it';
      expect(await say(erin, `!role give ${host.bob} Deputies`)).to.include(refusal);
      expect(await say(carol, `!role give ${host.bob} Deputies`)).to.include('has the role');
      expect(await say(erin, `!role take ${host.bob} Deputies`)).to.include(refusal);
      expect(await say(carol, `!role take ${host.bob} Deputies`)).to.include('no longer has');
      expect(await say(erin, `!role give ${host.bob} Keepers`)).to.include('has the role');
      expect(await say(erin, `!role give ${host.bob} Boss`)).to.include('is not below your highest role');
      for (const local of [deputies, keepers, mods]) if (local !== undefined) host.guild.deleteRole(local);
      await host.settled();
    });
  });

  describe('after a restart', () => {
    it('keep working, without the objects that were deleted meanwhile', async () => {
      const { dataDir } = host;
      const [kept, deleted] = ['Kept', 'Deleted'].map((text) => host.alice.say(host.general, text));
      for (const message of [kept, deleted]) {
        const link = `https://discord.com/channels/${host.guild.id}/${host.general.id}/${message?.id}`;
        expect(await say(carol, `!reactionrole add ${link} 📰 News`)).to.include('Who reacts with 📰');
      }
      await host.stop();
      if (deleted !== undefined) host.alice.delete(deleted);
      host.guild.editRole(role('Red'), { name: 'Crimson' });
      await using again = await createTestHost({ plugins: ['admin', 'roles', watcher], world: host, dataDir });
      const panel = host.general.messages.find(
        ({ components }) => components.length > 0 && JSON.stringify(components).includes('Crimson'),
      );
      await again.settled();
      carol.say(again.general, '!reactionrole list');
      await again.settled();
      expect(again.general.messages.at(-1)?.content).to.include(`${kept?.id}`).and.not.include(`${deleted?.id}`);
      expect(panel, 'brought up to date at the start').not.to.equal(undefined);
      if (panel === undefined) return;
      carol.click(panel, 'Crimson');
      await again.settled();
      expect(rolesOf(carol)).to.include('Crimson');
    });
  });
});
