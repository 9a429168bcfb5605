import type { TestHost } from '@cinnabar/core/testing';
import { createTestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { definePlugin, ToolPolicies, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { useSharedHost } from '../../support/shared-host.js';
import { answering } from './harness.js';

const shop = definePlugin({
  manifest: { id: 'shop', version: '1.0.0', description: 'Sells things' },
  settings: {
    global: z.object({ taxes: z.boolean().default(true).describe('Whether taxes are paid') }),
    guild: z.object({
      sign: z.enum(['open', 'closed']).default('open').describe('What the sign says'),
      discount: z.number().int().min(0).max(50).default(0).describe('Percent off'),
      motto: z.string().optional(),
      vault: z.string().optional().meta({ secret: true }).describe('Opens the vault'),
    }),
    user: z.object({ basket: z.number().int().default(1).describe('Things in your basket') }),
  },
  collections: {
    visits: { scope: 'user', version: 1, schema: z.object({ count: z.number().default(0) }) },
  },
  setup({ command, tool, collections }) {
    command({
      name: 'visit',
      description: 'Visit the shop',
      run: async (ctx) => {
        await collections.visits.of(ctx.user).update((visit) => {
          visit.count += 1;
        });
        await ctx.reply('Welcome');
      },
    });
    tool({
      name: 'sell',
      description: 'Sell a thing',
      input: z.object({ thing: z.string() }),
      risk: 'write',
      run: () => 'sold',
    });
  },
});

describe('admin: controls', () => {
  const open = useSharedHost(() => ({ plugins: ['admin', shop] }));
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;

  beforeEach(async () => {
    host = await open();
    say = answering(host);
  });
  afterEach(() => host[Symbol.asyncDispose]());

  describe('!set', () => {
    it('names the plugins whose settings the caller may change', async () => {
      await using harness = await createTestHost({ plugins: ['admin', 'confirm', shop] });
      const ask = answering(harness);
      expect(await ask(harness.you, '!set')).to.match(/^These plugins have settings: `admin`, `confirm`, `shop`\./);
      expect(await ask(harness.alice, '!set')).to.match(/^These plugins have settings: `admin`, `shop`\./);
    });
    it('lists every setting with value, scope, description, type and default', async () => {
      const list = await say(host.you, '!set shop');
      expect(list).to.match(/^\*\*Settings of shop\*\*\n/);
      expect(list).to.match(
        /^• `sign` = `open` for this server\. What the sign says\. One of open, closed; default `open`\.$/m,
      );
      expect(list).to.match(
        /^• `discount` = `0` for this server\. Percent off\. Whole number from 0 to 50; default `0`\.$/m,
      );
      expect(list).to.match(/^• `motto` = `not set` for this server\. /m);
      expect(list).to.match(/^• `taxes` = `true` everywhere\. /m);
      expect(await say(host.you, '!set')).to.match(/^These plugins have settings: .*`shop`/);
    });

    it('shows what is set before what is as it comes', async () => {
      await say(host.you, '!set shop discount 10');
      const lines = (await say(host.you, '!set shop')).split('\n');
      expect(lines[1]).to.equal('__Set__');
      expect(lines[2]).to.match(/^• `discount` = `10`/);
      expect(lines[3]).to.equal('__As they come__');
    });

    it('shows a member only what that member may change', async () => {
      expect(await say(host.alice, '!set shop')).to.equal(
        '**Settings of shop**\n• `basket` = `1` for you. Things in your basket. Whole number; default `1`.',
      );
    });

    it('changes a setting, and shows one', async () => {
      expect(await say(host.you, '!set shop sign closed')).to.equal(
        '`sign` of `shop` is `closed` for this server now.',
      );
      expect(await say(host.you, '!set shop sign')).to.match(/^`sign` = `closed` for this server\./);
      expect(await say(host.you, '!set shop motto Cheap & cheerful, since 2077')).to.include(
        'Cheap & cheerful, since 2077',
      );
      expect(await say(host.alice, '!set shop basket 3')).to.equal('`basket` of `shop` is `3` for you now.');
    });

    it('says what is wrong with a value, a key, a plugin', async () => {
      expect(await say(host.you, '!set shop discount 90')).to.match(/"discount" is not right: .*from 0 to 50.*"90"/);
      expect(await say(host.you, '!set shop sing open'))
        .to.match(/no setting "sing"/)
        .and.to.match(/sign/);
      expect(await say(host.you, '!set shop sing')).to.match(/no setting "sing".*`sign`/);
      expect(await say(host.you, '!set shpo')).to.match(/^There is no plugin with settings called `shpo`/);
    });

    it('leaves the guild’s to admins and the global ones to the owner of the bot', async () => {
      await using own = await createTestHost({ plugins: ['admin', shop] });
      const ask = answering(own);
      expect(await ask(own.alice, '!set shop sign closed')).to.match(/^You may not do that: /);
      own.guild.giveRole(own.bob, own.guild.createRole({ name: 'Boss', permissions: ['Administrator'] }));
      expect(await ask(own.bob, '!set shop taxes no')).to.match(/^You may not do that: /);
      expect(await ask(own.bob, '!set shop sign closed')).to.match(/is `closed`/);
      expect(await ask(own.you, '!set shop taxes no')).to.match(/is `false` everywhere now/);
    });

    it('takes no secret from a message that others can read, and repeats none', async () => {
      expect(await say(host.you, '!set shop vault sesame'))
        .to.match(/"vault" is not right/)
        .and.not.match(/sesame/);
      expect(await say(host.you, '!set shop vault')).to.match(/^`vault` = `\(not set\)`/);
    });

    it('goes back to the default, in both ways of saying it', async () => {
      await say(host.you, '!set shop sign closed');
      expect(await say(host.you, '!set reset shop sign')).to.equal(
        '`sign` of `shop` is back to the default, `open`. It was `closed` for this server.',
      );
      await say(host.you, '!set shop sign closed');
      await say(host.you, '!set shop discount 5');
      expect(await say(host.you, '!unset shop guild.SIGN')).to.include('It was `closed`');
      const list = await say(host.you, '!set shop');
      expect(list).to.include('`sign` = `open`').and.to.include('`discount` = `5`');
    });

    it('asks before more than one setting goes back, lists them, and keeps their values in the answer', async () => {
      const answer = async (button: string) => {
        const asked = host.general.messages.at(-1);
        if (asked !== undefined) host.you.click(asked, button);
        await host.settled();
        return host.general.messages.at(-1)?.content ?? '';
      };
      await say(host.you, '!set shop sign closed');
      await say(host.you, '!set shop discount 5');
      const question = await say(host.you, '!unset shop guild');
      expect(question.split('\n')).to.deep.equal([
        'This takes 2 settings of `shop` back to the default:',
        '• `sign` = `closed` for this server',
        '• `discount` = `5` for this server',
      ]);
      expect(await answer('Cancel')).to.match(/Not done\.$/);
      expect(await say(host.you, '!set shop sign')).to.include('`closed`');
      // A moderator with access to the settings may change the server's and their own, and has to choose.
      expect(await say(host.you, '!unset shop')).to.include('several kinds of settings');
      await say(host.you, '!unset shop guild');
      expect(await answer('Take them back')).to.equal(
        'The settings of `shop` are back to the default.\nThey were:\n• `sign` = `closed` for this server\n• `discount` = `5` for this server',
      );
      expect(await say(host.you, '!set shop sign')).to.include('`open`');
      expect(await say(host.you, '!unset shop guild')).to.equal(
        'Nothing of `shop` is set under `guild`: it is as it comes.',
      );
      expect(await say(host.you, '!audit')).to.include('unset shop guild (agreed)');
    });

    it('says what was probably meant by the name of a plugin', async () => {
      expect(await say(host.you, '!set shpo')).to.include('Did you mean `shop`?');
      expect(await say(host.you, '!set shp sign open')).to.include('Did you mean "shop"?');
      expect(await say(host.you, '!plugin info shopp')).to.include('Did you mean "shop"?');
      expect(await say(host.you, '!plugin enable shopp')).to.include('Did you mean "shop"?');
    });

    it('suggests keys with their plugin', async () => {
      const suggested = host.you.autocomplete(host.general, 'set', 'key', 'disc', { plugin: 'shop' });
      await host.settled();
      expect(suggested.choices).to.deep.equal([{ name: 'discount (shop)', value: 'discount' }]);
    });

    it('cannot be led out of its code marks by a value', async () => {
      const told = await say(host.you, '!set shop motto `**@everyone**` \u202Eevil');
      expect(told).to.equal('`motto` of `shop` is `ˋ**@everyone**ˋ ‹U+202E›evil` for this server now.');
    });
  });

  describe('!prefix', () => {
    it('shows, adds, removes and resets', async () => {
      expect(await say(host.alice, '!prefix show')).to.equal('Commands start with `!` here, or with a mention of me.');
      expect(await say(host.you, '!prefix add ?')).to.match(/`!`, `\?`|`\?`, `!`/);
      expect(await say(host.alice, '?visit')).to.equal('Welcome');
      expect(await say(host.you, '!prefix remove !')).to.match(/^Commands start with `\?` here/);
      expect(await say(host.alice, '!visit')).to.equal('');
      expect(await say(host.you, '?prefix reset')).to.match(/^Commands start with `!` here/);
    });

    it('is changed by admins only', async () => {
      expect(await say(host.alice, '!prefix add ?')).to.match(/^You may not do that: /);
    });
  });

  describe('!tool', () => {
    it('lists the tools that are on here, with risk and policy', async () => {
      await say(host.you, '!tool policy sell deny');
      expect(await say(host.you, '!tool list')).to.equal(
        '**Tools** (1)\n• `sell` (shop, write, policy deny): Sell a thing',
      );
      await say(host.you, '!plugin disable shop');
      expect(await say(host.you, '!tool list')).to.equal('There are no such tools here.');
    });

    it('sets a policy, shows it, and goes back to the default', async () => {
      const policy = () => host.resolve(ToolPolicies).get(host.guild.id, 'sell');
      expect(await say(host.you, '!tool policy sell confirm')).to.match(/`sell` here is `confirm`: it always asks/);
      expect(await policy()).to.equal('confirm');
      expect(await say(host.you, '!tool policy sell')).to.match(/is `confirm`/);
      expect(await say(host.you, '!tool policy sell default')).to.match(/is `default`/);
      expect(await policy()).to.equal(undefined);
    });

    it('refuses unknown tools and policies, and everyone but admins', async () => {
      expect(await say(host.you, '!tool policy steal deny')).to.equal('There is no tool called "steal".');
      expect(await say(host.you, '!tool policy sell maybe')).to.match(/allow.*confirm.*deny/);
      expect(await say(host.alice, '!tool policy sell allow')).to.match(/^You may not do that: /);
    });
  });

  describe('!mydata', () => {
    it('gives a member only their own data', async () => {
      await say(host.alice, '!visit');
      expect(await say(host.alice, '!mydata export')).to.equal('I have sent it to you in a direct message.');
      const [message] = host.alice.openDm(host.bot).messages;
      expect(message?.attachments[0]?.filename).to.equal('my-data.json');
      const interaction = host.bob.slash(host.general, 'mydata export');
      await host.settled();
      expect(interaction.messages[0]?.visibleTo).to.equal(host.bob);
    });

    it('says so when direct messages are closed', async () => {
      host.alice.dmsClosed = true;
      expect(await say(host.alice, '!mydata export')).to.match(/^I cannot write you a direct message/);
    });

    it('deletes it only when told twice', async () => {
      await say(host.alice, '!visit');
      expect(await say(host.alice, '!mydata forget')).to.match(/`mydata forget everything`/);
      expect(await say(host.alice, '!mydata forget everything')).to.match(/^Done\. .*\(1 document\)/);
      expect(await say(host.alice, '!mydata forget everything')).to.match(/Please wait/);
    });
  });
});
