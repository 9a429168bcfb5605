import type { WebBlock, WebButton, WebPage } from '@cinnabar/sdk';

type Acts = NonNullable<WebPage['acts']>;

/** The same blocks, where each button and form of an act that destroys something asks first. */
export function withQuestions(blocks: readonly WebBlock[], acts: Acts = {}): readonly WebBlock[] {
  return blocks.map((block): WebBlock => {
    switch (block.kind) {
      case 'buttons':
        return { ...block, buttons: block.buttons.map((button) => asking(button, acts)) };
      case 'form': {
        const { buttons, ...form } = asking(block, acts);
        return buttons === undefined ? form : { ...form, buttons: buttons.map((button) => asking(button, acts)) };
      }
      case 'table':
        return { ...block, rows: block.rows.map((row) => withRowQuestions(row, acts)) };
      case 'section':
        return { ...block, blocks: withQuestions(block.blocks, acts) };
      case 'steps':
        return { ...block, steps: block.steps.map((step) => ({ ...step, blocks: withQuestions(step.blocks, acts) })) };
      default:
        return block;
    }
  });
}

const withRowQuestions = <R extends { readonly buttons?: readonly WebButton[] }>(row: R, acts: Acts): R =>
  row.buttons === undefined ? row : { ...row, buttons: row.buttons.map((button) => asking(button, acts)) };

function asking<B extends Pick<WebButton, 'act' | 'input' | 'question'>>(button: B, acts: Acts): B {
  const act = Object.hasOwn(acts, button.act) ? acts[button.act] : undefined;
  if (act?.effect !== 'destroys' || button.question !== undefined) return button;
  const { data = {} } = act.input.partial().safeParse(button.input ?? {});
  return { ...button, question: act.question(data) };
}
