/** A plugin folder with a button, a menu and a form, like that of a third party. */
export const DESK = {
  'plugins/desk/package.json': { name: 'cinnabar-desk', version: '1.0.0', type: 'module' },
  'plugins/desk/index.ts': `
import { definePlugin } from '@cinnabar/sdk';

export default definePlugin({
  manifest: { id: 'desk', version: '1.0.0', description: 'A desk with a bell, a drawer and a guest book' },
  setup({ command, component }) {
    const bell = component({ name: 'bell', run: (interaction) => interaction.reply('Ding!') });
    const drawer = component({
      name: 'drawer',
      run: (interaction) => interaction.reply({ content: 'You took: ' + interaction.values.join(' + '), flags: 64 }),
    });
    const book = component({
      name: 'book',
      run: (interaction) =>
        interaction.isModalSubmit()
          ? interaction.reply('Signed by ' + interaction.fields.getTextInputValue('guest'))
          : interaction.showModal({
              custom_id: book.customId(),
              title: 'Guest book',
              components: [{ type: 1, components: [{ type: 4, custom_id: 'guest', label: 'Guest', style: 1 }] }],
            }),
    });
    const options = ['pen', 'red stamp'].map((name) => ({ label: name, value: name }));
    command({
      name: 'desk',
      description: 'Shows the desk',
      run: (context) =>
        context.reply({
          content: 'The desk',
          components: [
            {
              type: 1,
              components: [
                { type: 2, style: 1, label: 'Ring', custom_id: bell.customId() },
                { type: 2, style: 2, label: 'Sign', custom_id: book.customId() },
              ],
            },
            {
              type: 1,
              components: [{ type: 3, custom_id: drawer.customId(), placeholder: 'Drawer', max_values: 2, options }],
            },
          ],
        }),
    });
  },
});
`,
};
