import { z } from 'zod';
import type { FormIssue } from '../errors.js';

/** The fields that every kind of component may have, unvalidated. */
export interface AnyComponent {
  type: number;
  [key: string]: unknown;
}

export const ComponentKind = {
  ActionRow: 1,
  Button: 2,
  StringSelect: 3,
  TextInput: 4,
  UserSelect: 5,
  RoleSelect: 6,
  MentionableSelect: 7,
  ChannelSelect: 8,
  Thumbnail: 11,
  MediaGallery: 12,
  File: 13,
  Separator: 14,
  Container: 17,
  Label: 18,
} as const;

const LINK_STYLE = 5;
const PREMIUM_STYLE = 6;
const SELECTS: ReadonlySet<number> = new Set([3, 5, 6, 7, 8]);

export function isSelect(component: AnyComponent): boolean {
  return SELECTS.has(component.type);
}

/** Whether a click on it creates an interaction. */
export function isClickable(component: AnyComponent): boolean {
  return component.type === ComponentKind.Button && component.style !== LINK_STYLE && component.style !== PREMIUM_STYLE;
}

/** The component and all nested ones, each with its path. */
export function* walkComponents(
  components: readonly unknown[],
  path: readonly (string | number)[] = [],
): Generator<{ component: AnyComponent; path: readonly (string | number)[] }> {
  for (const [index, value] of components.entries()) {
    if (!isAnyComponent(value)) continue;
    const here = [...path, index];
    yield { component: value, path: here };
    if (Array.isArray(value.components)) yield* walkComponents(value.components, [...here, 'components']);
    for (const key of ['accessory', 'component']) {
      const inner = value[key];
      if (isAnyComponent(inner)) yield* walkComponents([inner], [...here, key]);
    }
  }
}

function isAnyComponent(value: unknown): value is AnyComponent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'number';
}

/** Discord's errors about a message's components. See https://discord.com/developers/docs/components/reference */
export function checkComponents(components: readonly unknown[]): FormIssue[] {
  const issues: FormIssue[] = [];
  const ids = new Set<unknown>();
  for (const { component, path } of walkComponents(components)) {
    issues.push(...checkOne(component).map((issue) => ({ ...issue, path: [...path, ...issue.path] })));
    const id = component.custom_id;
    if (id !== undefined && ids.has(id)) {
      const message = 'Component custom id cannot be duplicated';
      issues.push({ path: [...path, 'custom_id'], code: 'COMPONENT_CUSTOM_ID_DUPLICATED', message });
    }
    ids.add(id);
  }
  return issues;
}

function checkOne(component: AnyComponent): FormIssue[] {
  if (component.type === ComponentKind.ActionRow) return checkLength(component, 'components', 1, 5);
  if (component.type === ComponentKind.Button) return checkButton(component);
  if (component.type === ComponentKind.Thumbnail) return checkMedia(component, 'media');
  if (component.type === ComponentKind.File) return checkMedia(component, 'file');
  if (component.type === ComponentKind.MediaGallery) return checkGallery(component);
  if (!isSelect(component)) return [];
  const issues = [...required(component, 'custom_id'), ...checkLength(component, 'custom_id', 1, 100)];
  issues.push(...checkLength(component, 'placeholder', 0, 150));
  if (component.type === ComponentKind.StringSelect)
    issues.push(...required(component, 'options'), ...checkLength(component, 'options', 1, 25));
  return issues;
}

function checkButton(component: AnyComponent): FormIssue[] {
  const issues = checkLength(component, 'label', 0, 80);
  if (component.style === LINK_STYLE) issues.push(...required(component, 'url'));
  else if (component.style !== PREMIUM_STYLE) {
    issues.push(...required(component, 'custom_id'), ...checkLength(component, 'custom_id', 1, 100));
  }
  if (!component.label && !component.emoji && component.style !== PREMIUM_STYLE) {
    const message = 'A button must have a label or an emoji';
    issues.push({ path: ['label'], code: 'BUTTON_COMPONENT_INVALID_EMOJI_OR_LABEL', message });
  }
  return issues;
}

function checkGallery(component: AnyComponent): FormIssue[] {
  const { items } = component;
  if (!Array.isArray(items)) return required({ ...component, items: undefined }, 'items');
  return [
    ...checkLength(component, 'items', 1, 10),
    ...items.flatMap((item: unknown, index) =>
      checkMedia(item, 'media').map((issue) => ({ ...issue, path: ['items', index, ...issue.path] })),
    ),
  ];
}

const address = z.object({ url: z.string().min(1) });

function checkMedia(holder: unknown, field: string): FormIssue[] {
  const read = z.object({ [field]: address }).safeParse(holder);
  if (read.success) return [];
  return [{ path: [field, 'url'], code: 'BASE_TYPE_REQUIRED', message: 'This field is required' }];
}

function required(component: AnyComponent, field: string): FormIssue[] {
  if (component[field] !== undefined) return [];
  return [{ path: [field], code: 'BASE_TYPE_REQUIRED', message: 'This field is required' }];
}

function checkLength(component: AnyComponent, field: string, min: number, max: number): FormIssue[] {
  const value = component[field];
  if (typeof value !== 'string' && !Array.isArray(value)) return [];
  if (value.length >= min && value.length <= max) return [];
  return [{ path: [field], code: 'BASE_TYPE_BAD_LENGTH', message: `Must be between ${min} and ${max} in length.` }];
}
