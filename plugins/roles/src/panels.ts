import { createHash } from 'node:crypto';
import {
  type Actor,
  type ComponentInteraction,
  findSendable,
  isUnknown,
  isUnreachable,
  nameText,
  nonceOf,
  plainText,
  t,
  UserError,
  withRefusalSentences,
} from '@cinnabar/sdk';
import {
  ButtonStyle,
  ComponentType,
  type Guild,
  type MessageCreateOptions,
  MessageFlags,
  type Snowflake,
} from 'discord.js';
import { boundsText, type Menu, type PanelStyle, type RolesContext } from './context.js';
import { componentEmoji, type MenuStore } from './menu-store.js';
import type { SelfRoles } from './self-roles.js';

const BUTTONS_IN_A_ROW = 5;
/** Discord's limits. */
const LONGEST_LABEL = 80;
const LONGEST_OPTION = 100;
export const LONGEST_TEXT = 1_000;

interface PanelRequest {
  readonly channelId: string;
  readonly style: PanelStyle;
  readonly text: string;
}

export type Panels = ReturnType<typeof createPanels>;

/**
 * The messages in which members choose roles: posts them, handles their components, updates them when the roles or the menu change, and removes the records of
 * deleted ones.
 */
export function createPanels(context: RolesContext, store: MenuStore, selfRoles: SelfRoles) {
  const { client, collections, component, services, log } = context;
  const handle = component({
    name: 'panel',
    access: { where: 'guild' },
    run: (interaction, [menuId = '', roleId]) => answer(interaction, menuId, roleId),
  });

  async function answer(interaction: ComponentInteraction, menuId: string, roleId: string | undefined): Promise<void> {
    const { guild } = interaction;
    if (guild === null || interaction.isModalSubmit()) return;
    // Discord accepts one answer to an interaction, so an interaction that is delivered twice is handled once.
    await interaction.deferReply({ flags: MessageFlags.Ephemeral });
    const menu = (await store.list(guild)).find(({ id }) => id === menuId);
    if (menu === undefined) throw new UserError(t('These roles are not offered any more.'));
    const userId = interaction.user.id;
    const sentence = interaction.isButton()
      ? await selfRoles.toggle(guild, userId, menu, roleId ?? '')
      : await selfRoles.choose(guild, userId, menu, interaction.values);
    await interaction.editReply({ content: sentence, allowedMentions: { parse: [] } });
  }

  /** In the guild's language, because all members read it, and it is compared with the posted version. */
  const contentOf = (guild: Guild, menu: Menu, request: Pick<PanelRequest, 'style' | 'text'>) =>
    services.languages.speak({ guildId: guild.id }, () => draw(guild, menu, request));

  function draw(guild: Guild, menu: Menu, { style, text }: Pick<PanelRequest, 'style' | 'text'>) {
    const offered = menu.roles.flatMap((entry) => {
      const role = guild.roles.cache.get(entry.roleId);
      return role === undefined ? [] : [{ ...entry, label: role.name }];
    });
    const lines = offered
      .filter(({ description }) => style === 'buttons' && description !== undefined)
      .map(
        ({ roleId, description = '', emoji }) =>
          `${emoji === undefined ? '' : `${emoji} `}<@&${roleId}> ${plainText(description)}`,
      );
    const head = text === '' ? nameText(menu.name) : text;
    const content = [head, ...lines, `-# ${t('Choose {bounds}.', { bounds: boundsText(menu) })}`].join('\n');
    return {
      content,
      components: offered.length === 0 ? [] : style === 'menu' ? [selectOf(menu, offered)] : rowsOf(menu, offered),
      allowedMentions: { parse: [] },
    } satisfies MessageCreateOptions;
  }

  interface Offered {
    readonly roleId: string;
    readonly label: string;
    readonly emoji?: string;
    readonly description?: string;
  }

  function rowsOf(menu: Menu, offered: readonly Offered[]) {
    const buttons = offered.map(
      ({ roleId, label, emoji }) =>
        ({
          type: ComponentType.Button,
          style: ButtonStyle.Secondary,
          label: label.slice(0, LONGEST_LABEL),
          custom_id: handle.customId(menu.id, roleId),
          ...(emoji === undefined ? {} : { emoji: componentEmoji(emoji) }),
        }) as const,
    );
    const rows = Array.from({ length: Math.ceil(buttons.length / BUTTONS_IN_A_ROW) }, (_, row) =>
      buttons.slice(row * BUTTONS_IN_A_ROW, (row + 1) * BUTTONS_IN_A_ROW),
    );
    return rows.map((components) => ({ type: ComponentType.ActionRow, components }) as const);
  }

  function selectOf(menu: Menu, offered: readonly Offered[]) {
    const select = {
      type: ComponentType.StringSelect,
      custom_id: handle.customId(menu.id),
      placeholder: t('Choose your roles'),
      min_values: Math.min(menu.min, offered.length),
      max_values: menu.max === 0 ? offered.length : Math.min(menu.max, offered.length),
      options: offered.map(({ roleId, label, emoji, description }) => ({
        label: label.slice(0, LONGEST_OPTION),
        value: roleId,
        ...(description === undefined ? {} : { description }),
        ...(emoji === undefined ? {} : { emoji: componentEmoji(emoji) }),
      })),
    } as const;
    return { type: ComponentType.ActionRow, components: [select] } as const;
  }

  const setPanel = (guild: Guild, menuId: string, change: (menu: Menu) => void) =>
    collections.menus.of(guild).update((draft) => {
      const menu = draft.menus.find(({ id }) => id === menuId);
      if (menu !== undefined) change(menu);
    });

  const panels = {
    /** Posts the panel of a menu and deletes the previous one. @throws UserError */
    async post(guild: Guild, name: string, request: PanelRequest, actor: Actor): Promise<string> {
      const menu = await store.find(guild, name);
      if (menu.roles.length === 0)
        throw new UserError(t('The menu {name} has no roles yet.', { name: nameText(menu.name) }));
      const place = { guildId: guild.id, channelId: request.channelId };
      if (!(await services.access.mayEnter(actor, place, ['SendMessages'])))
        throw new UserError(t('You cannot write in that channel.'));
      const channel = await findSendable(client, request.channelId);
      if (channel === undefined) throw new UserError(t('I cannot write in that channel.'));
      const content = await contentOf(guild, menu, request);
      const message = await withRefusalSentences(async () =>
        channel.send({ ...content, ...nonceOf(services.random.id()) }),
      );
      const before = menu.panel;
      await setPanel(guild, menu.id, (draft) => {
        draft.panel = { ...request, messageId: message.id, shown: digestOf(content) };
      });
      if (before !== undefined) await panels.deleteMessage(before);
      return message.url;
    },

    /** Rewrites the panel of a menu when it no longer matches the menu and the roles. */
    async refresh(guild: Guild, menuId: string): Promise<void> {
      const menu = (await store.list(guild)).find(({ id }) => id === menuId);
      if (menu?.panel === undefined) return;
      const { panel } = menu;
      const content = await contentOf(guild, menu, panel);
      const shown = digestOf(content);
      if (shown === panel.shown) return;
      const channel = await findSendable(client, panel.channelId);
      try {
        if (channel === undefined) throw new UserError(t('I cannot reach the channel of the panel.'));
        await channel.messages.edit(panel.messageId, content);
      } catch (error) {
        if (isUnknown(error)) await panels.forget(guild, [panel.messageId]);
        else if (!isUnreachable(error) && !(error instanceof UserError)) throw error;
        log.warn('a panel of roles could not be brought up to date', { guildId: guild.id, menu: menu.name, error });
        return;
      }
      await setPanel(guild, menuId, (draft) => {
        if (draft.panel?.messageId === panel.messageId) draft.panel.shown = shown;
      });
    },

    async deleteMessage({
      channelId,
      messageId,
    }: {
      readonly channelId: string;
      readonly messageId: string;
    }): Promise<void> {
      const channel = await findSendable(client, channelId);
      await channel?.messages.delete(messageId).catch((error: unknown) => {
        if (!isUnreachable(error)) log.warn('an old panel of roles could not be deleted', { channelId, error });
      });
    },

    /** Removes the records of panels whose message was deleted. */
    async forget(guild: Guild, messageIds: readonly Snowflake[]): Promise<void> {
      const isGone = ({ panel }: Menu) => panel !== undefined && messageIds.includes(panel.messageId);
      if (!(await store.list(guild)).some(isGone)) return;
      await collections.menus.of(guild).update((draft) => {
        for (const menu of draft.menus.filter(isGone)) delete menu.panel;
      });
    },
  };
  return panels;
}

/** A string that is equal for two panels that look the same. */
function digestOf(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 16);
}
