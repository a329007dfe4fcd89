import type { PlanPart } from '../../planPart.ts';
import { markdownInto } from '../answer.ts';
import { button, el, icon } from '../dom.ts';
import type { Port } from '../port.ts';

/** The plan of a card as rendered Markdown, in a fold. What the user has unfolded stays unfolded. */
export function planFold(plan: PlanPart, old: HTMLElement | undefined, port: Port): HTMLElement {
  const body = el('div', {
    class: 'markdown plan-body',
    role: 'region',
    tabIndex: 0,
    aria: { label: plan.title },
  });
  markdownInto(body, plan.text, port);
  const root = el(
    'details',
    { class: 'plan' },
    el('summary', {}, icon('checklist'), el('span', {}, plan.title), icon('chevron-right', 'chevron')),
    body,
  );
  const shown = old?.querySelector<HTMLDetailsElement>('.plan');
  const isNew = plan.isUnfolded && shown?.dataset['unfolded'] === undefined;
  root.open = isNew || shown?.open === true;
  if (plan.isUnfolded) root.dataset['unfolded'] = '';
  return root;
}

export function editPlanButton(plan: PlanPart, id: string, { post }: Port): HTMLElement {
  return button({
    class: 'button secondary',
    label: plan.edit,
    data: { action: 'edit' },
    onClick: () => post({ type: 'edit', id }),
  });
}
