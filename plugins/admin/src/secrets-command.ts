import {
  type Actor,
  type CommandContext,
  type ComponentInteraction,
  option,
  type ReloadOutcome,
  type SecretInfo,
  sentenceOf,
  t,
  translated,
} from '@cinnabar/sdk';
import {
  type APIActionRowComponent,
  type APIComponentInMessageActionRow,
  ButtonStyle,
  ComponentType,
  type MessageComponentInteraction,
  MessageFlags,
  TextInputStyle,
} from 'discord.js';
import type { AdminContext } from './context.js';
import { code, codes } from './format.js';
import { clip } from './settings-page.js';

const OWNER = { tier: 'botOwner' } as const;
/** How long a form for a value is valid. */
const FORM_LIVES_MS = 5 * 60_000;
const MOST_OPTIONS = 25;
/** Matches a text that is more likely a mistyped name than a value. */
const LIKE_A_NAME = /^(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]{1,12})$/;

type Row = APIActionRowComponent<APIComponentInMessageActionRow>;

/** `!secrets` and `/secrets`: which secrets are set, but never their values. Values are typed into a form that only the owner of the bot sees. */
export function registerSecrets({ command, component, services }: AdminContext): void {
  const { audit, clock, secrets } = services;
  const handle = component({
    name: 'secrets',
    access: OWNER,
    // `change` records changes with their outcome.
    audited: false,
    run: (interaction, [action = '', name = '', until = '']) => press(interaction, action, name, until),
  });
  const find = (name: string) => secrets.list().find((one) => one.name === name);

  const button = (action: string, label: string, style: 1 | 2 | 4, name = '') =>
    ({ type: ComponentType.Button, style, label, custom_id: handle.customId(action, name) }) as const;
  const row = (...components: APIComponentInMessageActionRow[]): Row => ({ type: ComponentType.ActionRow, components });

  const listPage = (wanted: number, said?: string) => {
    const all = secrets.list();
    const pages = Math.max(1, Math.ceil(all.length / MOST_OPTIONS));
    const page = Math.min(Math.max(0, wanted), pages - 1);
    const items = all.slice(page * MOST_OPTIONS, (page + 1) * MOST_OPTIONS);
    const content = [
      ...(said === undefined ? [] : [said, '']),
      t('**Secrets** of the plugins that are loaded. Their values are never shown.'),
      ...items.map(({ name, source, plugins }) => `• \`${name}\` (${plugins.join(', ')}): ${sourceWords(source)}`),
    ].join('\n');
    const menu = {
      type: ComponentType.StringSelect,
      custom_id: handle.customId('choose'),
      placeholder: t('Choose a secret'),
      options: items.map(({ name, description }) => ({
        label: clip(name, 100),
        value: name,
        ...(description === '' ? {} : { description: clip(translated(description), 100) }),
      })),
    } as const;
    const more = pages < 2 ? [] : [row(button('page', t('More'), ButtonStyle.Secondary, String((page + 1) % pages)))];
    return { content: clip(content, 1_990), components: [...(items.length === 0 ? [] : [row(menu)]), ...more] };
  };

  const secretPage = ({ name, source, plugins, description }: SecretInfo, said?: string) => ({
    content: [
      ...(said === undefined ? [] : [said, '']),
      `**${name}** (${plugins.join(', ')}): ${sourceWords(source)}`,
      ...(description === '' ? [] : [translated(description)]),
      ...(source === 'environment' ? [t('It is set in the environment, which comes first: change it there.')] : []),
    ].join('\n'),
    components: [
      row(
        button('page', t('Back'), ButtonStyle.Secondary, '0'),
        ...(source === 'environment' ? [] : [button('edit', t('Set …'), ButtonStyle.Primary, name)]),
        ...(source === 'stored' ? [button('delete', t('Delete'), ButtonStyle.Danger, name)] : []),
      ),
    ],
  });

  const pageOf = (name: string, said?: string) => {
    const secret = find(name);
    return secret === undefined ? listPage(0, said) : secretPage(secret, said);
  };

  /** Runs a change, and records its actor and the secret's name, but not its value. */
  const change = async (actor: Actor, act: string, task: () => Promise<readonly ReloadOutcome[]>): Promise<string> => {
    try {
      const said = outcomeWords(await task());
      audit.record({ actor, act, outcome: 'done' });
      return said;
    } catch (error) {
      const sentence = sentenceOf(error);
      audit.record({ actor, act, outcome: sentence === undefined ? 'failed' : 'refused', reason: sentence });
      if (sentence === undefined) throw error;
      return `⚠️ ${sentence}`;
    }
  };

  const showForm = (interaction: MessageComponentInteraction, name: string) =>
    interaction.showModal({
      custom_id: handle.customId('typed', name, (clock.now() + FORM_LIVES_MS).toString(36)),
      title: clip(name, 45),
      components: [
        {
          type: ComponentType.Label,
          label: t('New value'),
          description: clip(t('It is stored where the bot runs, and never shown again.'), 100),
          component: {
            type: ComponentType.TextInput,
            custom_id: 'value',
            style: TextInputStyle.Short,
            required: true,
            max_length: 4_000,
          },
        },
      ],
    });

  const press = async (interaction: ComponentInteraction, action: string, name: string, until: string) => {
    const { user, guildId, channelId } = interaction;
    const actor: Actor = { userId: user.id, guildId, channelId: channelId ?? '' };
    if (interaction.isModalSubmit()) {
      await (interaction.isFromMessage()
        ? interaction.deferUpdate()
        : interaction.deferReply({ flags: MessageFlags.Ephemeral }));
      const value = interaction.fields.getTextInputValue('value');
      secrets.redact(value);
      const isOld = !(Number.parseInt(until, 36) >= clock.now());
      const said = isOld
        ? t('That form was too old, so nothing was changed. Please open it again.')
        : await change(actor, `secrets set ${name}`, () => secrets.set(name, value));
      return interaction.editReply(pageOf(name, said));
    }
    if (action === 'open') return interaction.reply({ ...listPage(0), flags: MessageFlags.Ephemeral });
    if (action === 'edit') return showForm(interaction, name);
    await interaction.deferUpdate();
    if (action === 'delete')
      return interaction.editReply(
        pageOf(name, await change(actor, `secrets delete ${name}`, () => secrets.delete(name))),
      );
    if (action === 'choose' && interaction.isStringSelectMenu())
      return interaction.editReply(pageOf(interaction.values[0] ?? ''));
    return interaction.editReply(listPage(Number(name) || 0));
  };

  /** Redacts a value that was typed where others may read it, and asks for a new one: the bot cannot undo the disclosure. */
  const answerLeak = async (ctx: CommandContext, words: string) => {
    secrets.redact(words);
    const isGone = await ctx.message?.delete().then(
      () => true,
      () => false,
    );
    const content = [
      t('Values are never typed into a command: this form takes them, and you alone see it.'),
      ...(ctx.message === null
        ? []
        : [
            isGone === true
              ? t('I have deleted your message.')
              : t('I could not delete your message: please do it yourself.'),
            t(
              'If it contained a value, consider it leaked: make a new one where it comes from, and revoke the old one.',
            ),
          ]),
    ].join('\n');
    return ctx.reply({ content, components: [row(button('open', t('Open the secrets'), ButtonStyle.Primary))] });
  };

  command({
    name: 'secrets',
    description: 'See which secrets are set, and set them in a form',
    help: 'Never type a value: press the button, and the form takes it. What the environment sets comes first.',
    access: OWNER,
    ephemeral: true,
    withheld: true,
    options: { name: option.rest().optional().describe('Which secret; never its value') },
    examples: ['secrets', 'secrets LETTA_API_KEY'],
    async run(ctx, { name }) {
      const known = name === undefined ? undefined : find(name.trim().toUpperCase());
      if (name !== undefined && known === undefined && !LIKE_A_NAME.test(name.trim())) return answerLeak(ctx, name);
      if (ctx.source === 'prefix' && ctx.guild !== null) {
        const content = t('Press the button: you alone see what comes then.');
        return ctx.reply({ content, components: [row(button('open', t('Open the secrets'), ButtonStyle.Primary))] });
      }
      if (name === undefined) return ctx.reply(listPage(0));
      const said = t('No plugin reads a secret called {name}.', { name: code(name) });
      return ctx.reply(known === undefined ? listPage(0, said) : secretPage(known));
    },
  });
}

export function sourceWords(source: SecretInfo['source']): string {
  if (source === 'environment') return t('set, in the environment');
  return source === 'stored' ? t('set, stored by the bot') : t('not set');
}

export function outcomeWords(outcomes: readonly ReloadOutcome[]): string {
  const loaded = outcomes.filter(({ problem }) => problem === undefined).map(({ plugin }) => plugin);
  return [
    t('✓ Saved.'),
    ...(loaded.length === 0 ? [] : [t('Loaded again: {plugins}.', { plugins: codes(loaded) })]),
    ...outcomes.flatMap(({ plugin, problem }) =>
      problem === undefined
        ? []
        : [
            t('⚠️ {plugin} does not run with it yet: {problem} Try `plugin reload {plugin}`.', {
              plugin,
              problem: clip(problem, 300),
            }),
          ],
    ),
  ].join('\n');
}
