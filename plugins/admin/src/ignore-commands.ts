import { type AccessRule, EVERYTHING, option, subcommand, t, textOfRuleSubject, UserError } from '@cinnabar/sdk';
import { ChannelType, type Guild } from 'discord.js';
import { findSubject } from './access-commands.js';
import type { AdminContext } from './context.js';
import { guildOf } from './format.js';

type Subject = AccessRule['subject'];

const ADMIN = { tier: 'admin', where: 'guild' } as const;
const EVERYONE: Subject = { kind: 'everyone' };
const PEOPLE: ReadonlySet<Subject['kind']> = new Set(['user', 'role']);
const PLACES: ReadonlySet<Subject['kind']> = new Set(['channel', 'category', 'everyone']);

const same = (one: Subject, other: Subject) => one.kind === other.kind && one.id === other.id;

/**
 * `!ignore`, `!block` and `!allowlist`: places and members of which the bot takes no notice in a server. They are access rules about everything:
 * `!access list` shows them, too.
 */
export function registerIgnoreCommands(context: AdminContext): void {
  const { group, services } = context;
  const { accessRules } = services;

  const rulesFor = async (guildId: string, effect: AccessRule['effect'], kinds: ReadonlySet<Subject['kind']>) =>
    (await accessRules.list(guildId)).filter(
      (rule) => rule.target.kind === EVERYTHING.kind && rule.effect === effect && kinds.has(rule.subject.kind),
    );
  const textOf = (rules: readonly AccessRule[]) =>
    rules.map(({ subject }) => `• ${textOfRuleSubject(subject)}`).join('\n');
  const deny = (guildId: string, subject: Subject) =>
    accessRules.set(guildId, { effect: 'deny', target: EVERYTHING, subject });
  const takeBack = async (guildId: string, effect: AccessRule['effect'], subject: Subject) => {
    const isIt = (rule: AccessRule) =>
      rule.target.kind === EVERYTHING.kind && rule.effect === effect && same(rule.subject, subject);
    return (await accessRules.clear(guildId, isIt)).length > 0;
  };

  const channel = option.channel().optional().describe('The channel; without one, this channel');
  const ignored = (subject: Subject) =>
    t('I take no notice of anything {subject} any more. Admins can still use the commands that control me.', {
      subject: textOfRuleSubject(subject),
    });
  const place = option.rest().optional().describe('A channel, a category, or server; without one, this channel');

  group({
    name: 'ignore',
    description: 'Channels and categories of which the bot takes no notice',
    access: ADMIN,
    help: 'No command, mention, reply, reaction or button does anything there, and nothing says so. The commands of this plugin still work for admins.',
    commands: [
      subcommand({
        name: 'channel',
        description: 'Take no notice of what is said in a channel',
        options: { channel },
        async run(ctx, { channel: chosen }) {
          const subject: Subject = { kind: 'channel', id: (chosen ?? ctx.channel).id };
          await deny(guildOf(ctx.actor), subject);
          await ctx.reply(ignored(subject));
        },
      }),
      subcommand({
        name: 'category',
        description: 'Take no notice of what is said in the channels of a category',
        options: { category: option.channel([ChannelType.GuildCategory]).describe('The category') },
        async run(ctx, { category }) {
          const subject: Subject = { kind: 'category', id: category.id };
          await deny(guildOf(ctx.actor), subject);
          await ctx.reply(ignored(subject));
        },
      }),
      subcommand({
        name: 'server',
        description: 'Take no notice of this server, but for members and channels that a rule allows',
        async run(ctx) {
          await deny(guildOf(ctx.actor), EVERYONE);
          await ctx.reply(ignored(EVERYONE));
        },
      }),
      subcommand({
        name: 'remove',
        description: 'Take notice of a channel, category or the server again',
        options: { place },
        examples: ['ignore remove #general', 'ignore remove server'],
        async run(ctx, { place: typed }) {
          const guildId = guildOf(ctx.actor);
          const subject =
            typed === undefined
              ? ({ kind: 'channel', id: ctx.channel.id } as const)
              : /^(?:the )?server$/i.test(typed.trim())
                ? EVERYONE
                : await findSubject(ctx, typed);
          await ctx.reply(
            (await takeBack(guildId, 'deny', subject))
              ? t('I listen again {subject}.', { subject: textOfRuleSubject(subject) })
              : t('There is no such rule here.'),
          );
        },
      }),
      subcommand({
        name: 'list',
        description: 'List what the bot takes no notice of',
        async run(ctx) {
          const rules = await rulesFor(guildOf(ctx.actor), 'deny', PLACES);
          await ctx.reply(
            rules.length === 0
              ? t('I ignore no channel here.')
              : [t('**I take no notice of anything**'), textOf(rules)].join('\n'),
          );
        },
      }),
    ],
  });

  const who = option.rest().describe('A member, by mention or id, or a role');
  const person = async (ctx: Parameters<typeof findSubject>[0], text: string): Promise<Subject> => {
    const subject = await findSubject(ctx, text);
    if (PEOPLE.has(subject.kind)) return subject;
    throw new UserError(t('Please name a member or a role. Channels are ignored with `ignore channel`.'));
  };
  /** @throws UserError for those whom a denial of everything must not meet */
  const assertBlockable = (guild: Guild | null, callerId: string, { kind, id }: Subject): void => {
    if (kind !== 'user') return;
    if (id === callerId) throw new UserError(t('You cannot block yourself.'));
    if (id === guild?.ownerId) throw new UserError(t('The owner of the server cannot be blocked.'));
  };

  group({
    name: 'block',
    aliases: ['blocklist'],
    description: 'Members and roles of which the bot takes no notice in this server',
    access: ADMIN,
    help: 'They get no answer: not to commands, mentions, replies, reactions or buttons, by no tool, task or agent of theirs, and they decide no confirmation.',
    commands: [
      subcommand({
        name: 'add',
        description: 'Take no notice of a member or of the members of a role',
        options: { who },
        async run(ctx, { who: typed }) {
          const subject = await person(ctx, typed);
          assertBlockable(ctx.guild, ctx.actor.userId, subject);
          await deny(guildOf(ctx.actor), subject);
          await ctx.reply(t('Blocked: everything {subject}.', { subject: textOfRuleSubject(subject) }));
        },
      }),
      subcommand({
        name: 'remove',
        description: 'Take notice of a member or role again',
        options: { who },
        async run(ctx, { who: typed }) {
          const subject = await person(ctx, typed);
          await ctx.reply(
            (await takeBack(guildOf(ctx.actor), 'deny', subject))
              ? t('Not blocked any more: everything {subject}.', { subject: textOfRuleSubject(subject) })
              : t('There is no such rule here.'),
          );
        },
      }),
      subcommand({
        name: 'list',
        description: 'List the members and roles that are blocked here',
        async run(ctx) {
          const rules = await rulesFor(guildOf(ctx.actor), 'deny', PEOPLE);
          await ctx.reply(
            rules.length === 0 ? t('Nobody is blocked here.') : [t('**Blocked here**'), textOf(rules)].join('\n'),
          );
        },
      }),
    ],
  });

  group({
    name: 'allowlist',
    description: 'Let only some members and roles use the bot in this server',
    access: ADMIN,
    help: 'With the first entry the bot takes notice of nobody else here; when the last one is removed, of everyone again. Admins can always use the commands of this plugin.',
    commands: [
      subcommand({
        name: 'add',
        description: 'Let a member or role use the bot, and nobody who is not on the list',
        options: { who },
        async run(ctx, { who: typed }) {
          const subject = await person(ctx, typed);
          await accessRules.update(guildOf(ctx.actor), (rules) => [
            ...rules,
            { effect: 'deny', target: EVERYTHING, subject: EVERYONE },
            { effect: 'allow', target: EVERYTHING, subject },
          ]);
          const added = textOfRuleSubject(subject);
          await ctx.reply(
            t('On the list: everything {subject}. I take notice of nobody here who is not on it.', { subject: added }),
          );
        },
      }),
      subcommand({
        name: 'remove',
        description: 'Take a member or role off the list',
        options: { who },
        async run(ctx, { who: typed }) {
          const guildId = guildOf(ctx.actor);
          const subject = await person(ctx, typed);
          if (!(await takeBack(guildId, 'allow', subject))) return ctx.reply(t('There is no such rule here.'));
          const left = await rulesFor(guildId, 'allow', PEOPLE);
          if (left.length > 0)
            return ctx.reply(t('Off the list: everything {subject}.', { subject: textOfRuleSubject(subject) }));
          await takeBack(guildId, 'deny', EVERYONE);
          return ctx.reply(t('The list is empty: everyone can use me here again.'));
        },
      }),
      subcommand({
        name: 'list',
        description: 'List who may use the bot here',
        async run(ctx) {
          const rules = await rulesFor(guildOf(ctx.actor), 'allow', PEOPLE);
          await ctx.reply(
            rules.length === 0
              ? t('There is no list: everyone can use me here.')
              : [t('**On the list**'), textOf(rules)].join('\n'),
          );
        },
      }),
    ],
  });
}
