import html


def heat_map(weights, title, rows=(), columns=(), legend=""):
    """A table of colour for weights [n, m], with labels and a legend where they are given."""
    style = "width:12px;height:12px;background:rgba(31,78,121,{:.3f})"
    head = "".join(
        f'<th style="writing-mode:vertical-rl;text-align:left;font-weight:normal">{html.escape(label)}</th>'
        for label in columns
    )
    body = f"<tr><td></td>{head}</tr>" if head else ""
    for i, row in enumerate(weights):
        label = f'<th style="text-align:right;font-weight:normal">{html.escape(rows[i])}</th>' if rows else ""
        cells = "".join(
            f'<td style="{style.format(min(max(float(w), 0.0), 1.0))}" title="{w:.4f}"></td>' for w in row
        )
        body += f"<tr>{label}{cells}</tr>"
    title = html.escape(title)
    below = f"<p>{html.escape(legend)}</p>" if legend else ""
    return (
        f'<table style="border-collapse:collapse" aria-label="{title}"><caption>{title}</caption>{body}</table>{below}'
    )
