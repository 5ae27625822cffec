// Dialogs of the palette that save the current address as a view and delete a view (APP-12).

import { Command } from 'cmdk';
import { type ReactNode, useState } from 'react';
import { deleteView, saveView } from '../data/saved-views.ts';
import { ConfirmDialog } from '../kit/feedback/confirm.tsx';
import { toast } from '../kit/feedback/toast-store.ts';
import { visibleText } from '../kit/json/logic/visible-text.ts';
import { CommandBox, Item } from './command-box.tsx';

const NAME_MAX = 128;

export interface NameViewProps {
  readonly names: readonly string[];
  readonly onClose: () => void;
}

export function NameView({ names, onClose }: NameViewProps): ReactNode {
  const [text, setText] = useState('');
  const [address] = useState(() => location.pathname + location.search);
  const name = text.trim().slice(0, NAME_MAX);
  const isTaken = names.includes(name);
  const save = (): void => {
    onClose();
    saveView(name, address, isTaken).then(
      () => toast({ tone: 'good', text: `View saved: ${visibleText(name)}` }),
      (error: Error) => toast({ tone: 'bad', text: `The view was not saved: ${error.message}` }),
    );
  };
  return (
    <CommandBox label="Name of this view" {...{ text, setText }} empty="Type a name for what this page shows now.">
      {name !== '' && (
        <Command.Group heading="For all users of this engine">
          <Item value="save" name={`${isTaken ? 'Replace the view' : 'Save as'} ${name}`} note={address} run={save} />
        </Command.Group>
      )}
    </CommandBox>
  );
}

export interface DeleteViewProps {
  readonly name: string;
  readonly onClose: () => void;
}

export function DeleteView({ name, onClose }: DeleteViewProps): ReactNode {
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Delete the view ${visibleText(name)}?`}
      action="Delete the view"
      run={() => deleteView(name)}
    >
      The view is deleted for all users of this engine. The data that it shows stays.
    </ConfirmDialog>
  );
}
